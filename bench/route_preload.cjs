// Prints the routes that a framework of Node itself knows of an application, as JSON: method, path, handler, file:line.
// node -r ./route_preload.cjs ENTRY, with ROUTES_TO (where to write) and ROUTES_EXPORT (what to call, if anything).
"use strict";
const fs = require("node:fs");
const Module = require("node:module");
const path = require("node:path");

const target = process.env.ROUTES_TO;
const load = Module._load;
const applications = [];
const rows = [];
// Packages that need a server or generated code: anything asked of them is there and does nothing.
const stubbed = (process.env.ROUTES_STUBS || "").split(",").filter(Boolean);
const nothing = new Proxy(function () {}, {
  get: (_, name) => (name === "then" || name === Symbol.toPrimitive ? undefined : name === "__esModule" ? true : nothing),
  apply: () => nothing,
  construct: () => nothing,
});
const seen = new WeakSet();

function site() {
  const frames = new Error().stack.split("\n").slice(2);
  const own = frames.find((line) => !line.includes("node_modules") && !line.includes(__filename) && !line.includes("node:"));
  const match = own && /\(?((?:file:\/\/)?\/[^():]+):(\d+):\d+\)?$/.exec(own.trim());
  return match ? `${match[1].replace("file://", "")}:${match[2]}` : "";
}

function texts(value) {
  return (Array.isArray(value) ? value : [value]).flat(9).map((one) => (one instanceof RegExp ? null : String(one)));
}

function patchRouter(proto) {
  if (seen.has(proto)) return;
  seen.add(proto);
  const { use, route } = proto;
  proto.use = function (first, ...rest) {
    const hasPath = typeof first === "string" || first instanceof RegExp || (Array.isArray(first) && typeof first.flat(9)[0] !== "function");
    for (const child of [...(hasPath ? rest : [first, ...rest])].flat(9)) {
      if (typeof child === "function" && (child.stack || child.__application)) {
        (this.__children ||= []).push({ paths: hasPath ? texts(first) : [""], child: child.__application || child });
      }
    }
    return use.call(this, first, ...rest);
  };
  proto.route = function (text) {
    const made = route.call(this, text);
    (this.__routes ||= []).push({ paths: texts(text), route: made, at: site() });
    return made;
  };
}

function patchExpress(express) {
  if (seen.has(express)) return express;
  seen.add(express);
  patchRouter(express.Router.prototype && express.Router.prototype.use ? express.Router.prototype : express.Router);
  const { use, listen } = express.application;
  express.application.use = function (first, ...rest) {
    const hasPath = typeof first !== "function" && !(Array.isArray(first) && typeof first.flat(9)[0] === "function");
    for (const child of [...(hasPath ? rest : [first, ...rest])].flat(9)) {
      if (child && child.handle && child.set) (this.__children ||= []).push({ paths: hasPath ? texts(first) : [""], child });
    }
    return use.call(this, first, ...rest);
  };
  express.application.listen = function (...args) {
    applications.push(this);
    void listen;
    const callback = args.find((one) => typeof one === "function");
    return { on() { return this; }, once() { return this; }, close() {}, address: () => ({ port: 0 }), setTimeout() {}, callback };
  };
  return express;
}

// Every route of Fastify ends in the router, with its prefix; ECMAScript modules can't be given another factory.
function patchFindMyWay(router) {
  if (seen.has(router)) return router;
  seen.add(router);
  const { on } = router.prototype;
  router.prototype.on = function (method, url, ...rest) {
    const context = rest.at(-1);
    if (context && context.handler && context.handler.name !== "basic404") {
      for (const one of [method].flat()) rows.push([one, url, context.handler.name, ""]);
    }
    return on.call(this, method, url, ...rest);
  };
  return router;
}

Module._load = function (request, parent, isMain) {
  if (stubbed.includes(request)) return nothing;
  const exported = load.call(this, request, parent, isMain);
  if (/^express$|node_modules\/express\/(index|lib\/express)\.js$/.test(request)) return patchExpress(exported);
  if (request === "find-my-way") return patchFindMyWay(exported);
  if (request === "koa-mount") {
    return function (text, inner) {
      const made = exported.apply(this, arguments);
      made.__mounted = typeof text === "string" ? [text, inner] : ["", text];
      return made;
    };
  }
  return exported;
};

function compose(node, prefix, depth = 0) {
  if (depth > 12) return;
  for (const { paths, route, at } of node.__routes || []) {
    for (const layer of route.stack.length ? route.stack : [{}]) {
      const methods = layer.method ? [layer.method] : route.methods._all ? ["all"] : Object.keys(route.methods);
      for (const method of methods) for (const text of paths) {
        const last = route.stack.filter((one) => one.method === layer.method).at(-1) || {};
        rows.push([method.toUpperCase(), text === null ? null : prefix + text, (last.handle && last.handle.name) || "", at]);
      }
    }
  }
  for (const { paths, child } of node.__children || []) for (const text of paths) compose(child, text === null ? null : `${prefix}${text}`, depth + 1);
  for (const router of [node._router, node.__own].filter((one) => one && one !== node)) compose(router, prefix, depth + 1);
  const lazy = node.set && !node._router ? Object.getOwnPropertyDescriptor(node, "router") : undefined;
  if (lazy && lazy.get) compose(node.router, prefix, depth + 1);
}

function composeKoa(application, prefix) {
  for (const layer of application.middleware) {
    if (layer.__mounted) composeKoa(layer.__mounted[1], prefix + layer.__mounted[0]);
    for (const one of (layer.router && layer.router.stack) || []) {
      for (const method of one.methods) rows.push([method, prefix + one.path, one.stack.at(-1).name, ""]);
    }
  }
}

async function main() {
  process.on("uncaughtException", (error) => { console.error("uncaught", error.message); });
  process.on("unhandledRejection", (error) => { console.error("unhandled", error && error.message); });
  const entry = path.resolve(process.argv[2] || process.argv[1]);
  for (const name of ["express", "fastify"]) {
    try { Module.createRequire(entry)(name); } catch { /* the application uses another one */ }
  }
  let exported = await import(entry);
  if (exported.default) exported = exported.default.__esModule && exported.default.default ? exported.default.default : exported.default;
  for (const name of (process.env.ROUTES_EXPORT || "").split(".").filter(Boolean)) {
    exported = name.endsWith("()") ? await exported[name.slice(0, -2)]() : exported[name];
  }
  if (process.env.ROUTES_CALL) exported = await exported();
  if (process.env.ROUTES_PLUGIN) exported = Module.createRequire(entry)("fastify")().register(exported);
  await new Promise((resolve) => setTimeout(resolve, Number(process.env.ROUTES_WAIT || 1500)));
  const own = exported && (exported.handle || exported._router) ? exported : exported && exported.app;
  const roots = new Set([...applications, ...(own && own.handle ? [own] : [])]);
  for (const root of roots) compose(root, "");
  if (exported && exported.ready) await exported.ready();
  if (exported && exported.middleware && exported.callback) composeKoa(exported, "");
  for (const one of (exported && exported.routes) || []) rows.push([one.method, one.path, one.handler ? one.handler.name : "", ""]);
  const unique = new Map(rows.map((row) => [JSON.stringify(row.slice(0, 2)), row]));
  fs.writeFileSync(target, JSON.stringify([...unique.values()]));
  process.exit(0);
}
if (target && !process.env.ROUTES_LIBRARY) main();
module.exports = { rows };
