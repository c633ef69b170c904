/**
 * Rules over imports: which room may know which, which folder alone knows a library, no cycles.
 * The two tables here are the architecture; a change to them is a decision, not a repair.
 */
import { inSrc, readText, type Source, type Tree } from "./tree.ts";

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

export interface Rule {
  readonly name: string;
  /** What to do about a finding. */
  readonly cure: string;
  find(tree: Tree): Finding[];
}

/**
 * Room → what it may import beside itself: rooms, single files, or `operations`, which means the files of any room that
 * describe control-plane acts (`operations.ts`, `key-operations.ts`). `gateway` is not here: it may import everything.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  main: ["host/commands", "base/process"],
  // Each opens what it needs of the rooms, and nothing opens a command.
  "host/commands": [
    "base",
    "base/document",
    "base/process",
    "host/gateway",
    "account",
    "catalog",
    "store",
    "credits/ledger",
    "billing/receipts",
    "host/backup",
    "cluster/supervisor",
    // What a Redis holds, without a gateway that runs.
    "cluster/cells",
    // The supervisor of cells is given it.
    "src/analytics/engine/engine.ts",
  ],
  // Texts that people write: YAML with places, unknown words and their nearest kin.
  "base/document": ["base"],
  // What is kept of a call, column by column.
  record: ["base"],
  "base/process": ["base"],
  wire: ["base", "base/document"],
  routing: ["base", "base/document"],
  workers: ["base", "record"],
  // No part of the product: it is what the product is held against.
  simulator: ["base"],
  store: ["base", "base/process"],
  // What several processes of one installation share, through Redis.
  "cluster/cells": [
    "base",
    "store",
    "credits/ledger",
    "credits/limits",
    "src/inference/exchange/kept/kept-rows.ts",
  ],
  // Several processes on one machine and one port; the analytics' engine comes by a port.
  "cluster/supervisor": ["base", "base/process", "cluster/cells"],
  "store/jobs": ["base", "store"],
  "store/events": ["base", "store"],
  "account/webhooks": ["base", "store", "store/events", "store/jobs", "account", "outbound"],
  // It takes only the shape of a ledger entry from credits.
  analytics: ["base", "record", "store", "store/events", "src/credits/ledger/entry.ts"],
  "credits/ledger": ["base", "store", "store/events"],
  "credits/limits": ["base", "store", "credits/ledger", "store/events"],
  catalog: ["base", "base/document", "store"],
  // An org's apps and the public pages; figures come by ports.
  "catalog/apps": ["base", "store", "store/events", "account"],
  // What all processes of an installation share; a process keeps it in files.
  "store/installation": ["base", "base/process"],
  account: [
    "base",
    "base/document",
    "store",
    "store/installation",
    "base/process",
    "store/events",
    "store/jobs",
  ],
  // What an org takes along; the rooms' own rows come by ports.
  "account/exports": ["base", "store", "store/events", "store/jobs"],
  // Copies of an installation: how one is made beside a running gateway, and how it is proven before it is used.
  "host/backup": [
    "base",
    "base/process",
    "store",
    "credits/ledger",
    "store/installation",
    "src/analytics/outbox/batch-queue.ts",
  ],
  "account/operator": ["base", "store", "account", "credits/ledger", "store/events", "store/jobs"],
  "account/identity": ["base", "store", "account", "store/events"],
  "account/mail": ["base", "store", "store/events", "store/jobs", "account"],
  // What a payment gateway is asked and says; no money of ours moves here.
  "billing/payments": ["base", "store", "store/jobs"],
  "billing/invoices": ["base", "base/document", "store", "store/events", "store/jobs", "account"],
  // From a quote to credit: top-ups, refunds, mandates, plans, subscriptions.
  billing: [
    ...["base", "base/document", "store", "credits/ledger", "account", "catalog"],
    ...["store/events", "store/jobs", "billing/payments", "billing/invoices"],
  ],
  // OpenTelemetry: what the record of a call is as spans and metrics.
  "analytics/telemetry": ["base"],
  // Signed statements of what a call cost.
  "billing/receipts": ["base", "store", "store/installation", "record"],
  "routing/policies": ["base", "base/document", "record", "store", "routing", "store/events"],
  // Directories of organisations: what an identity provider says of users and groups.
  "account/scim": ["base", "store", "account", "store/events", "store/jobs"],
  "inference/upstream": ["base", "wire"],
  // Calls to URLs that tenants give; whoever makes such a call does it through this room.
  outbound: ["base"],
  "inference/exchange": [
    ...["base", "store", "credits/ledger", "credits/limits", "catalog", "account", "billing"],
    ...["routing", "routing/policies", "inference/upstream", "wire", "workers", "analytics"],
  ],
  // It takes from the account what authenticates a request and says which key may call a route.
  edge: [
    ...["base", "base/document", "operations", "inference/exchange"],
    ...["src/account/keyring.ts", "src/account/roles.ts", "src/account/scopes.ts", "src/account/versions.ts"],
    // Who may ask how often.
    ...["src/credits/limits/limits.ts", "src/credits/limits/request-limits.ts"],
    // The shape of errors for identity providers.
    "src/account/scim/error.ts",
  ],
};

/** Library → the only place of `src` that imports it. */
const EXCLUSIVE: Readonly<Record<string, string>> = {
  lmdb: "src/store/",
  ioredis: "src/cluster/cells/",
  piscina: "src/workers/",
  "uWebSockets.js": "src/edge/",
  chdb: "src/analytics/",
  "@clickhouse/client": "src/analytics/",
  yaml: "src/base/document/",
  yazl: "src/account/exports/",
  stripe: "src/billing/payments/stripe/",
  razorpay: "src/billing/payments/razorpay/",
  pdfkit: "src/billing/invoices/",
  "badge-maker": "src/catalog/apps/",
  "@opentelemetry/api": "src/analytics/telemetry/",
  "@opentelemetry/core": "src/analytics/telemetry/",
  "@opentelemetry/exporter-metrics-otlp-http": "src/analytics/telemetry/",
  "@opentelemetry/exporter-metrics-otlp-proto": "src/analytics/telemetry/",
  "@opentelemetry/exporter-trace-otlp-http": "src/analytics/telemetry/",
  "@opentelemetry/exporter-trace-otlp-proto": "src/analytics/telemetry/",
  "@opentelemetry/resources": "src/analytics/telemetry/",
  "@opentelemetry/sdk-metrics": "src/analytics/telemetry/",
  "@opentelemetry/sdk-trace": "src/analytics/telemetry/",
};

const OPERATIONS = /^src\/([a-z-]+\/)+([a-z-]+-)?operations\.ts$/;

/**
 * A room is a folder of the table, such as `store/jobs`; a file belongs to the deepest one that it is in. `main` is a
 * file of `src` itself, and the simulator stands beside `src`.
 */
function roomOf(path: string): string | undefined {
  const [top, second = "", third] = path.split("/");
  if (top === "simulator") return top;
  if (top !== "src") return undefined;
  if (third !== undefined) return deepestRoom(path.slice("src/".length)) ?? second;
  if (second === "main.ts") return "main";
  if (SETTINGS.includes(second)) return "gateway";
  return "base";
}

const SETTINGS = ["config.ts", "environment.ts", "weir-file.ts"];

const ROOMS = Object.keys(MAY_IMPORT).sort((a, b) => b.length - a.length);

const deepestRoom = (path: string): string | undefined => ROOMS.find((room) => path.startsWith(`${room}/`));

const isAllowed = (entry: string, target: string): boolean =>
  entry === roomOf(target) || entry === target || (entry === "operations" && OPERATIONS.test(target));

const rooms: Rule = {
  name: "a room imports only what lies below it",
  cure: "declare what you need as an interface in your own room, and let src/host/gateway pass it in; or move the code to the room that owns it",
  find: (tree) => tree.sources.flatMap(forbiddenImports),
};

function forbiddenImports(source: Source): Finding[] {
  const room = roomOf(source.path);
  if (room === undefined || room === "gateway") return [];
  const allowed = MAY_IMPORT[room];
  if (allowed === undefined) {
    const what = `the room "${room}" is not in the import table of test/unit/tidy/imports.ts`;
    return [{ file: source.path, line: 1, what }];
  }
  return source.imports.flatMap(({ file, line }) => {
    if (file === undefined || roomOf(file) === room || allowed.some((entry) => isAllowed(entry, file)))
      return [];
    const what = `imports ${file}, but ${room} may import only ${allowed.join(", ") || "itself"}`;
    return [{ file: source.path, line, what }];
  });
}

const libraries: Rule = {
  name: "a library with an owner is imported by its owner only",
  cure: "call the owner's functions, or have src/host/gateway pass them in",
  find: (tree) =>
    tree.sources.filter(inSrc).flatMap(({ path, imports }) =>
      imports.flatMap(({ library = "", line }) => {
        const owner = EXCLUSIVE[library];
        if (owner === undefined || path.startsWith(owner)) return [];
        return [{ file: path, line, what: `imports ${library}, which belongs to ${owner}` }];
      }),
    ),
};

const dependencies: Rule = {
  name: "src loads only packages that an install without development packages has",
  cure: 'move the package to "dependencies" of package.json, or import only its types',
  find(tree) {
    const declared = Object.keys(JSON.parse(readText(tree, "package.json")).dependencies ?? {});
    return tree.sources
      .filter(inSrc)
      .flatMap(({ path, imports }) =>
        imports
          .filter((i) => i.library !== undefined && !i.typeOnly && !declared.includes(i.library))
          .map(({ library, line }) => ({ file: path, line, what: `imports ${library}` })),
      );
  },
};

const cycles: Rule = {
  name: "no file reaches itself through imports, those of types included",
  cure: "move what both files need into a file below them, often the type alone",
  find: (tree) => cyclesOf(tree.sources.filter(inSrc)),
};

/** At least one finding for every knot of files, at the alphabetically first of the cycle; depth first. */
function cyclesOf(sources: readonly Source[]): Finding[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const findings = new Map<string, Finding>();
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const from = trail.indexOf(path);
    if (from >= 0) {
      const found = cycleFinding(trail.slice(from), byPath);
      findings.set(found.what, found);
      return;
    }
    if (done.has(path)) return;
    for (const { file } of byPath.get(path)?.imports ?? [])
      if (file !== undefined) visit(file, [...trail, path]);
    done.add(path);
  };
  for (const path of byPath.keys()) visit(path, []);
  return [...findings.values()];
}

function cycleFinding(cycle: readonly string[], byPath: ReadonlyMap<string, Source>): Finding {
  const start = cycle.indexOf([...cycle].sort()[0] ?? "");
  const turned = [...cycle.slice(start), ...cycle.slice(0, start)];
  const [file = "", next = file] = turned;
  const line = byPath.get(file)?.imports.find((i) => i.file === next)?.line ?? 1;
  return { file, line, what: `is in a cycle: ${[...turned, file].join(" → ")}` };
}

export const importRules: readonly Rule[] = [rooms, libraries, dependencies, cycles];
