// Prints the reads of `process.env` in the JavaScript and TypeScript files of a folder, as @babel/parser reads them.
// node environment_reads.cjs PARSER FOLDER
const fs = require("fs");
const path = require("path");
const [parserFolder, root] = process.argv.slice(2);
const parser = require(parserFolder);
const LONGEST_LINES = 400; // characters of an average line
const reads = [];

function isEnv(node, names) {
  if (node.type === "Identifier") return names.has(node.name);
  if (!/MemberExpression$/.test(node.type) || node.computed || node.property.name !== "env") return false;
  return node.object.type === "Identifier" && node.object.name === "process";
}

function walk(node, parent, visit) {
  visit(node, parent);
  for (const key of Object.keys(node)) {
    for (const child of [].concat(node[key])) {
      if (child && typeof child.type === "string" && child.loc) walk(child, node, visit);
    }
  }
}

const isWritten = (node, parent) =>
  (parent && parent.type === "AssignmentExpression" && parent.left === node) ||
  (parent && parent.type === "UnaryExpression" && parent.operator === "delete");
const isCalled = (node, parent) => parent && /CallExpression$/.test(parent.type) && parent.callee === node;

function readsOf(file, tree) {
  const names = new Set();
  const declared = {};
  walk(tree, null, (node) => {
    const isAlias = node.type === "VariableDeclarator" && node.id.type === "Identifier";
    if (isAlias) declared[node.id.name] = (declared[node.id.name] || 0) + 1;
    if (isAlias && node.init && isEnv(node.init, new Set())) names.add(node.id.name);
    const isParameter = (one) => one.type === "Identifier" && (declared[one.name] = 2);
    if (node.params) node.params.forEach(isParameter);
  });
  for (const name of names) if (declared[name] > 1) names.delete(name);
  const add = (node, key) => reads.push([file, node.loc.start.line, key]);
  walk(tree, null, (node, parent) => {
    if (/MemberExpression$/.test(node.type) && isEnv(node.object, names) && !isWritten(node, parent)
      && !isCalled(node, parent)) {
      if (!node.computed) add(node, node.property.name);
      else add(node, node.property.type === "StringLiteral" ? node.property.value : null);
    } else if (node.type === "BinaryExpression" && node.operator === "in" && isEnv(node.right, names)) {
      add(node, node.left.type === "StringLiteral" ? node.left.value : null);
    }
    const [pattern, source] =
      node.type === "VariableDeclarator" ? [node.id, node.init]
      : node.type === "AssignmentExpression" ? [node.left, node.right] : [];
    if (!pattern || !source || pattern.type !== "ObjectPattern" || !isEnv(source, names)) return;
    for (const one of pattern.properties) {
      if (one.type === "ObjectProperty" && !one.computed) add(node, one.key.name || one.key.value);
    }
  });
}

function visitFolder(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== "node_modules" && entry.name !== ".git") visitFolder(full);
    else if (entry.isFile() && /\.(c|m)?(js|ts)x?$/.test(entry.name)) visitFile(full);
  }
}

function visitFile(full) {
  const isTyped = /\.(c|m)?tsx?$/.test(full);
  const plugins = isTyped ? ["typescript", "decorators-legacy"] : ["jsx"];
  if (/\.tsx$/.test(full)) plugins.push("jsx");
  const options = { sourceType: "unambiguous", errorRecovery: true, allowReturnOutsideFunction: true, plugins };
  const text = fs.readFileSync(full, "utf8");
  if (text.length > LONGEST_LINES * text.split("\n").length) return; // a bundler wrote it
  let tree;
  try {
    tree = parser.parse(text, options);
  } catch {
    return;
  }
  readsOf(path.relative(root, full), tree.program);
}

visitFolder(root);
process.stdout.write(JSON.stringify(reads));
