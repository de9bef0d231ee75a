// A reporter of `node --test` that tells of tests line by line, as the reporters for Python do.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const report = process.env.CODEPLANE_REPORT;
const root = fs.realpathSync(process.env.CODEPLANE_ROOT);
delete process.env.CODEPLANE_REPORT;
delete process.env.CODEPLANE_ROOT;

const MOST_PRINTED = 4000;
const FRAME = /(?:\(|at |^)(file:\/\/[^\s()]+|\/[^\s():]+):(\d+)(?::\d+)?\)?/;

const write = (event, told) => fs.appendFileSync(report, JSON.stringify({ e: event, ...told }) + "\n");

function inside(file) {
  const whole = file.startsWith("file://") ? fileURLToPath(file) : file;
  const relative = path.relative(root, whole);
  return relative.startsWith("..") || relative.split(path.sep).includes("node_modules") ? "" : relative;
}

function place(text) {
  for (const line of text.split("\n")) {
    const found = FRAME.exec(line);
    const file = found && inside(found[1]);
    if (file) return { path: file, line: Number(found[2]) };
  }
  return { path: "", line: 0 };
}

function failure(error) {
  const cause = error?.cause instanceof Error || error?.cause?.message ? error.cause : error;
  const stack = String(cause?.stack ?? cause ?? "");
  const message = String(cause?.message ?? cause ?? "").trim();
  // "Expected values to be strictly equal:" says nothing without the values after it.
  const lines = message.split("\n").filter((line) => line.trim());
  const told = lines[0]?.endsWith(":") && lines[1] ? `${lines[0]} ${lines[1].trim()}` : (lines[0] ?? "");
  const own = stack.split("\n").filter((line) => !/^\s+at .*(node:internal|node_modules)/.test(line));
  const kind = String(cause?.code === "ERR_ASSERTION" ? "AssertionError" : (cause?.name ?? ""));
  return { kind, message: told.slice(0, 500), stack: own.join("\n").slice(0, 4000), ...place(stack) };
}

export default async function* tell(source) {
  const names = new Map();
  const printed = new Map();
  write("begin", { runner: `node ${process.version}` });
  for await (const { type, data } of source) {
    // Some versions tell files from where they run, others from the root.
    const file = data.file === undefined ? undefined : path.resolve(data.file);
    const isFile = data.nesting === 0 && file !== undefined && path.resolve(data.name ?? "") === file;
    const id = file === undefined ? "" : path.relative(process.cwd(), file);
    if (type === "test:stdout" || type === "test:stderr") {
      printed.set(file, ((printed.get(file) ?? "") + data.message).slice(-MOST_PRINTED));
    } else if (type === "test:dequeue" && isFile) {
      write("start", { id, file: id });
    } else if (type === "test:complete" && isFile) {
      write("through", { id });
    } else if (type === "test:start" && !isFile) {
      const above = (names.get(file) ?? []).slice(0, data.nesting);
      names.set(file, [...above, data.name]);
    } else if (type === "test:pass" || type === "test:fail") {
      const details = data.details ?? {};
      const why = details.error?.failureType;
      const isSuite = details.type === "suite" || why === "subtestsFailed";
      if (isFile) {
        const known = names.has(file);
        const text = printed.get(file) ?? "";
        if (type === "test:fail" && !known) {
          const told = text.split("\n").filter((line) => /^\w*Error/.test(line))[0] ?? "The file failed.";
          write("bad", { id, kind: told.split(":")[0], message: told.replace(/^\w+: /, ""), stack: text, ...place(text) });
        }
        continue;
      }
      if (isSuite && (type === "test:pass" || why === "subtestsFailed")) continue;
      const name = [...(names.get(file) ?? []).slice(0, data.nesting), data.name].join(" > ");
      const isSkipped = data.skip !== undefined || data.todo !== undefined;
      const status = isSkipped ? "skipped" : type === "test:pass" ? "passed" : why === "testCodeFailure" ? "failed" : "error";
      const told = type === "test:fail" && !isSkipped ? failure(details.error) : {};
      if (told.path === "") Object.assign(told, { path: file ? inside(file) : "", line: data.line ?? 0 });
      const output = type === "test:fail" ? { output: printed.get(file) ?? "" } : {};
      write("case", { id: `${id}::${name}`, file: id, status, seconds: (details.duration_ms ?? 0) / 1000, ...told, ...output });
    }
  }
  write("end", {});
}
