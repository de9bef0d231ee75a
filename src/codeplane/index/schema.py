"""The tables of the index. Everything in them can be made again from the repository."""

import hashlib
from pathlib import Path

from codeplane.parsing import generated, pack, words

# Facts hang off a blob; views map paths to blobs; an epoch is a recorded change of a view.
# `ref` has one row for each blob: its names and all their occurrences, packed (see `pack`). Which blobs may
# hold a name is asked of `word`.
# `entry` maps paths to blobs. It is a view over `item`, whose rows are small: many worktrees share an index,
# and each has a row for every file. A path is written once, in `place`; a digest only where no blob has it.
# `site` has the sites of the blobs that a question about surfaces needs (see `kept_sites`).
# `semantic_fact` has what batch indexers say about a blob at a path (see `semantics`).
# `git_object` says which content a git blob has, so that none is read twice; `gap` what a commit has no
# content for.
_TABLES = """
CREATE TABLE blob (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  digest TEXT NOT NULL,
  language TEXT NOT NULL,
  extractor TEXT NOT NULL,
  size INTEGER NOT NULL,
  lines INTEGER NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  interface TEXT NOT NULL,
  package TEXT NOT NULL,
  generated INTEGER NOT NULL,
  scopes BLOB NOT NULL,
  binds BLOB NOT NULL,
  UNIQUE (digest, language, extractor)
);
CREATE INDEX blob_by_package ON blob (package) WHERE package <> '';
CREATE INDEX blob_generated ON blob (id) WHERE generated;
CREATE TABLE definition (
  blob INTEGER NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  parent INTEGER NOT NULL,
  scope INTEGER NOT NULL,
  body INTEGER NOT NULL,
  start_line INTEGER NOT NULL,
  start_column INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  end_column INTEGER NOT NULL,
  name_line INTEGER NOT NULL,
  name_column INTEGER NOT NULL,
  signature TEXT NOT NULL,
  bases TEXT NOT NULL,
  annotation TEXT NOT NULL,
  flags INTEGER NOT NULL,
  owner TEXT NOT NULL,
  text INTEGER NOT NULL,
  PRIMARY KEY (blob, position)
) WITHOUT ROWID;
CREATE INDEX definition_by_name ON definition (name);
CREATE INDEX definition_by_owner ON definition (owner) WHERE owner <> '';
CREATE TABLE ref (
  blob INTEGER PRIMARY KEY,
  names BLOB NOT NULL,
  occurrences BLOB NOT NULL
);
CREATE TABLE import (
  blob INTEGER NOT NULL,
  position INTEGER NOT NULL,
  scope INTEGER NOT NULL,
  kind TEXT NOT NULL,
  module TEXT NOT NULL,
  name TEXT NOT NULL,
  alias TEXT NOT NULL,
  line INTEGER NOT NULL,
  column INTEGER NOT NULL,
  certain INTEGER NOT NULL,
  reexport INTEGER NOT NULL,
  PRIMARY KEY (blob, position)
) WITHOUT ROWID;
CREATE INDEX import_by_module ON import (module);
CREATE INDEX import_by_name ON import (name);
CREATE TABLE export (
  blob INTEGER NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  local TEXT NOT NULL,
  evidence TEXT NOT NULL,
  certain INTEGER NOT NULL,
  PRIMARY KEY (blob, position)
) WITHOUT ROWID;
CREATE INDEX export_renamed ON export (local) WHERE name <> local AND local <> '';
CREATE TABLE dynamic (
  blob INTEGER NOT NULL,
  position INTEGER NOT NULL,
  pattern TEXT NOT NULL,
  line INTEGER NOT NULL,
  column INTEGER NOT NULL,
  literals TEXT NOT NULL,
  computed INTEGER NOT NULL,
  PRIMARY KEY (blob, position)
) WITHOUT ROWID;
CREATE TABLE written (
  blob INTEGER NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (blob, position)
) WITHOUT ROWID;
CREATE INDEX written_by_name ON written (name);
CREATE TABLE site (
  blob INTEGER PRIMARY KEY,
  version TEXT NOT NULL,
  sites BLOB NOT NULL
);
CREATE VIRTUAL TABLE word USING fts5(
  text, content='', detail=none, columnsize=0, tokenize="unicode61 remove_diacritics 0 tokenchars '_'"
);
CREATE VIRTUAL TABLE word_list USING fts5vocab(word, instance);
CREATE VIRTUAL TABLE word_term USING fts5vocab(word, row);
CREATE TABLE semantic_run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  context TEXT NOT NULL,
  indexer TEXT NOT NULL,
  version TEXT NOT NULL,
  head TEXT NOT NULL,
  configuration TEXT NOT NULL,
  inputs TEXT NOT NULL,
  contents BLOB NOT NULL,
  at_ms INTEGER NOT NULL
);
CREATE TABLE semantic_fact (
  blob INTEGER NOT NULL,
  path TEXT NOT NULL,
  context TEXT NOT NULL,
  run INTEGER NOT NULL,
  targets BLOB NOT NULL,
  positions BLOB NOT NULL,
  notes TEXT NOT NULL,
  PRIMARY KEY (blob, path, context)
) WITHOUT ROWID;
CREATE TABLE refresh_job (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  view TEXT NOT NULL,
  context TEXT NOT NULL,
  status TEXT NOT NULL,
  scope TEXT,
  trigger_reason TEXT NOT NULL,
  head_at_enqueue TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  started_ms INTEGER,
  finished_ms INTEGER,
  output_hash TEXT,
  error TEXT,
  superseded_reason TEXT,
  run INTEGER,
  follow_up INTEGER
);
CREATE INDEX refresh_job_unfinished ON refresh_job (view, context) WHERE finished_ms IS NULL;
CREATE TABLE view (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  complete INTEGER NOT NULL,
  used_ms INTEGER NOT NULL
);
CREATE TABLE place (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE
);
CREATE TABLE item (
  view INTEGER NOT NULL,
  place INTEGER NOT NULL,
  blob INTEGER,
  digest TEXT,
  mtime_ns INTEGER NOT NULL,
  size INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  ctime_later INTEGER NOT NULL,
  mode_beside INTEGER NOT NULL,
  PRIMARY KEY (view, place)
) WITHOUT ROWID;
CREATE INDEX item_by_blob ON item (blob);
CREATE VIEW entry AS
SELECT
  i.view AS view,
  p.path AS path,
  coalesce(i.digest, (SELECT b.digest FROM blob b WHERE b.id = i.blob)) AS digest,
  i.blob AS blob,
  i.mtime_ns AS mtime_ns,
  i.size AS size,
  i.inode AS inode,
  i.mtime_ns + i.ctime_later AS ctime_ns,
  i.mode_beside + 33188 AS mode
FROM item i LEFT JOIN place p ON p.id = i.place;
CREATE TRIGGER entry_insert INSTEAD OF INSERT ON entry
BEGIN INSERT INTO place (path) SELECT NEW.path
WHERE NOT EXISTS (SELECT 1 FROM place WHERE path = NEW.path); INSERT OR REPLACE INTO item VALUES (
  NEW.view, (SELECT id FROM place WHERE path = NEW.path), NEW.blob,
  nullif(NEW.digest, (SELECT digest FROM blob WHERE id = NEW.blob)),
  NEW.mtime_ns, NEW.size, NEW.inode, NEW.ctime_ns - NEW.mtime_ns, NEW.mode - 33188
); END;
CREATE TRIGGER entry_delete INSTEAD OF DELETE ON entry
BEGIN DELETE FROM item WHERE view = OLD.view AND place = (SELECT id FROM place WHERE path = OLD.path); END;
CREATE TABLE gap (
  view INTEGER NOT NULL,
  path TEXT NOT NULL,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (view, path)
) WITHOUT ROWID;
CREATE TABLE git_object (
  oid BLOB PRIMARY KEY,
  digest BLOB NOT NULL,
  size INTEGER NOT NULL,
  beginning BLOB NOT NULL,
  pointed TEXT NOT NULL,
  pointed_size INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE epoch (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  view INTEGER NOT NULL,
  at_ms INTEGER NOT NULL
);
CREATE INDEX epoch_by_view ON epoch (view, id);
CREATE TABLE change (
  epoch INTEGER NOT NULL,
  path TEXT NOT NULL,
  before INTEGER,
  after INTEGER,
  PRIMARY KEY (epoch, path)
) WITHOUT ROWID;
"""


def _form_digest() -> str:
    """Changes whenever facts are packed in another way or words are others: then the index is made anew."""
    sources = [Path(module.__file__ or "").read_bytes() for module in (generated, pack, words)]
    return hashlib.sha256(b"\0".join(sources)).hexdigest()[:16]


SCHEMA = f"-- {_form_digest()}{_TABLES}"
