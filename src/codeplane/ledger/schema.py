"""What a segment of the ledger is made of: one table that only grows, and two views that explain it."""

from typing import Final

from codeplane.ledger.rows import TEST_RUN

_APPEND_ONLY: Final = "SELECT RAISE(ABORT, 'the ledger is append-only'); END"
_WHEN: Final = "strftime('%Y-%m-%dT%H:%M:%fZ', json_extract(body, '$.{}') / 1000.0, 'unixepoch')"
# A task that is open has its last row before its last operations.
_SINCE: Final = (
    "(SELECT {} FROM row AS o WHERE o.task = row.task AND o.kind = 'operation' AND o.number > row.number"
    " AND json_extract(o.body, '$.limit_triggered') IS NULL"
    " AND json_extract(o.body, '$.unchanged') IS NULL{})"
)
_IS_TEST: Final = f"(json_extract(o.body, '$.op_type') = '{TEST_RUN}')"


def _fingerprint(kind: str) -> str:
    value = f"json_extract(o.body, '$.{kind}_fingerprint')"
    return _SINCE.format(value, f" AND {value} IS NOT NULL ORDER BY o.number DESC LIMIT 1")


SCHEMA: Final = f"""
CREATE TABLE row (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  task TEXT,
  id TEXT UNIQUE,
  body TEXT NOT NULL,
  hash TEXT NOT NULL
);
CREATE INDEX row_task ON row (task) WHERE task IS NOT NULL;
CREATE TRIGGER row_update BEFORE UPDATE ON row BEGIN {_APPEND_ONLY};
CREATE TRIGGER row_delete BEFORE DELETE ON row BEGIN {_APPEND_ONLY};
CREATE TRIGGER row_replace BEFORE INSERT ON row
  WHEN EXISTS (SELECT 1 FROM row WHERE number >= NEW.number OR id = NEW.id) BEGIN {_APPEND_ONLY};
CREATE VIEW operations AS SELECT
  number AS op_id,
  id AS operation_id,
  task AS task_id,
  json_extract(body, '$.session_id') AS session_id,
  {_WHEN.format("timestamp_ms")} AS timestamp,
  json_extract(body, '$.duration_ms') AS duration_ms,
  json_extract(body, '$.op_type') AS op_type,
  json_extract(body, '$.success') AS success,
  json_extract(body, '$.repo_before') AS repo_before_hash,
  json_extract(body, '$.repo_after') AS repo_after_hash,
  (SELECT json_group_array(json_extract(value, '$.path')) FROM json_each(body, '$.changes')) AS changed_paths,
  json_object(
    'files_changed', coalesce(json_array_length(body, '$.changes'), 0),
    'insertions', coalesce(json_extract(body, '$.insertions'), 0),
    'deletions', coalesce(json_extract(body, '$.deletions'), 0)
  ) AS diff_stats,
  json_extract(body, '$.short_diff') AS short_diff,
  json_extract(body, '$.mutation_fingerprint') AS mutation_fingerprint,
  json_extract(body, '$.failure_fingerprint') AS failure_fingerprint,
  json_extract(body, '$.failure_class') AS failure_class,
  json_extract(body, '$.failing_tests') AS failing_tests,
  json_extract(body, '$.limit_triggered') AS limit_triggered,
  json_extract(body, '$.unchanged') AS unchanged,
  json_extract(body, '$.undoes') AS undoes,
  json_extract(body, '$.recovered') AS recovered,
  json_extract(body, '$.artifact') AS artifact_hash
FROM row WHERE kind = 'operation';
CREATE VIEW tasks AS SELECT
  task AS task_id,
  {_WHEN.format("opened_ms")} AS opened_at,
  {_WHEN.format("closed_ms")} AS closed_at,
  json_extract(body, '$.state') AS state,
  json_extract(body, '$.repo_head') AS repo_head_sha,
  json_extract(body, '$.epoch') AS index_version,
  json_extract(body, '$.limits') AS limits_json,
  json_extract(body, '$.mutations')
    + CASE json_extract(body, '$.state') WHEN 'OPEN' THEN
      coalesce({_SINCE.format(f"sum(NOT {_IS_TEST})", "")}, 0) ELSE 0 END AS mutation_count,
  json_extract(body, '$.test_runs')
    + CASE json_extract(body, '$.state') WHEN 'OPEN' THEN
      coalesce({_SINCE.format(f"sum({_IS_TEST})", "")}, 0) ELSE 0 END AS test_run_count,
  coalesce({_fingerprint("mutation")}, json_extract(body, '$.last_mutation')) AS last_mutation_fingerprint,
  coalesce({_fingerprint("failure")}, json_extract(body, '$.last_failure')) AS last_failure_fingerprint,
  json_extract(body, '$.label') AS label,
  json_extract(body, '$.session_id') AS session_id,
  json_extract(body, '$.reason') AS reason,
  number AS event
FROM row WHERE kind = 'task' AND number IN (SELECT max(number) FROM row WHERE kind = 'task' GROUP BY task);
"""
