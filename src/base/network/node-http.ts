/**
 * What this process uses of `node:http`. An `import` of that module reads each of its exports, and its `WebSocket` loads Node's whole
 * fetch, with HTTP/2 and an HTTP parser in WebAssembly: 10 MB of resident memory that a gateway does not use.
 */
export const { Agent, createServer, request, STATUS_CODES } = process.getBuiltinModule("node:http");
export type Agent = import("node:http").Agent;
