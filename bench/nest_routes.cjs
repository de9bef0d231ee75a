// Prints the routes that NestJS itself registers for an application, as JSON: method, path, handler.
// node nest_routes.cjs ENTRY, with ROUTES_TO and, for TypeScript, a loader that keeps the metadata of decorators.
// Nothing is instantiated (`preview`); the routes are those that Nest's own resolver hands its HTTP adapter.
"use strict";
const fs = require("node:fs");
const Module = require("node:module");
const path = require("node:path");

const entry = path.resolve(process.argv[2]);
const rows = [];
const own = Module.createRequire(entry);
const { NestFactory } = own("@nestjs/core");
const { RouterExplorer } = own("@nestjs/core/router/router-explorer");
const METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "ALL", "OPTIONS", "HEAD", "SEARCH"];

const nothing = new Proxy(function () {}, {
  get: (_, name) => (name === "then" || name === Symbol.toPrimitive ? undefined : nothing),
  apply: () => nothing,
  construct: () => nothing,
});

// Routes are worked out by Nest's factory of paths; only what serves them is left out.
RouterExplorer.prototype.applyCallbackToRouter = function (router, one, wrapper, moduleKey, metadata) {
  for (const text of one.path) {
    for (const whole of this.routePathFactory.create({ ...metadata, methodPath: text }, one.requestMethod)) {
      rows.push([METHODS[one.requestMethod] || String(one.requestMethod), whole, one.methodName, ""]);
    }
  }
};
try {
  Object.assign(own("@nestjs/swagger").SwaggerModule, { createDocument: () => ({ paths: {} }), setup() {} });
} catch { /* the application describes itself otherwise */ }

const { create } = NestFactory;
NestFactory.create = async function (module, ...rest) {
  const options = rest.find((one) => one && typeof one === "object" && !one.getHttpServer) || {};
  const made = await create.call(this, module, { ...options, preview: true, logger: ["error"], abortOnError: false });
  const settings = [];
  const stand = new Proxy(made, {
    get(target, name) {
      if (["setGlobalPrefix", "enableVersioning"].includes(name)) return (...args) => { settings.push(name); target[name](...args); return stand; };
      if (name === "get" || name === "resolve") {
        return (token) => {
          if (token && token.name === "ConfigService") return { get: setting, getOrThrow: setting };
          return nothing;
        };
      }
      if (name === "listen" || name === "init") return async () => { await finish(target); };
      if (name === "then") return undefined;
      return () => nothing;
    },
  });
  return stand;
};

const given = JSON.parse(process.env.ROUTES_SETTINGS || "{}");
function setting(name, fallback) {
  return name in given ? given[name] : typeof fallback === "object" ? undefined : fallback;
}

let isDone = false;
async function finish(application) {
  if (isDone) return;
  isDone = true;
  application.routesResolver.resolve(application.httpAdapter || application.getHttpAdapter(), application.config.getGlobalPrefix());
  fs.writeFileSync(process.env.ROUTES_TO, JSON.stringify(rows));
  process.exit(0);
}
process.on("unhandledRejection", (error) => console.error("unhandled", error));
process.on("uncaughtException", (error) => console.error("uncaught", error));
require(entry);
