/** The wings of the house, its rooms, and who may know whom. These tables are the architecture: a change to them is a decision, not a repair. */

/** The wings of `src`, from the ground up: an import never goes from one to a later one. */
export const WINGS = [
  "base",
  "record",
  "wire",
  "store",
  "outbound",
  "workers",
  "credits",
  "routing",
  "analytics",
  "account",
  "catalog",
  "billing",
  "inference",
  "edge",
  "cluster",
  "host",
  "main.ts",
];

/**
 * Room → what it may import beside itself and `base`: rooms, single files, or `operations`, which means the files of any room that
 * describe control-plane acts (`operations.ts`, `key-operations.ts`). A file belongs to the deepest room that it is in. `host/gateway`
 * is not here: it may import everything.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  // What operations are made of: answers, pages, streams.
  "base/operation": [],
  // Texts that people write: YAML with places, unknown words and their nearest kin.
  "base/document": [],
  "base/process": [],
  // What is kept of a call, column by column.
  record: [],
  wire: ["base/document", "src/base/operation/fields.ts"],
  store: ["base/process"],
  // What all processes of an installation share; a process keeps it in files.
  "store/installation": ["base/process"],
  "store/jobs": ["store"],
  "store/events": ["base/operation", "store"],
  // Calls to URLs that tenants give; whoever makes such a call does it through this room.
  outbound: [],
  workers: ["record"],
  // Opens what it has, for one gateway alone.
  credits: ["store", "store/events", "credits/ledger", "credits/budgets", "credits/limits"],
  "credits/ledger": ["base/operation", "store", "store/events"],
  "credits/budgets": ["src/base/operation/fields.ts", "store", "store/events", "credits/ledger"],
  "credits/kept": ["store"],
  "credits/limits": ["base/operation", "credits/budgets", "credits/kept"],
  routing: [],
  "routing/health": ["src/base/operation/fields.ts", "record", "store", "store/events", "routing"],
  "routing/planner": ["routing", "routing/health"],
  // What a policy says: its documents, read and matched.
  "routing/language": ["base/document", "routing/planner"],
  "routing/policies": [
    "base/operation",
    "base/document",
    "record",
    "store",
    "store/events",
    "routing",
    "routing/health",
    "routing/planner",
    "routing/language",
    "src/workers/thread.ts",
  ],
  // It takes only the shape of a ledger entry from credits.
  analytics: [
    "base/operation",
    "src/base/process/yielding.ts",
    "record",
    "store",
    "store/events",
    "store/jobs",
    "src/credits/ledger/entry.ts",
    "src/analytics/telemetry/contract.ts",
  ],
  // OpenTelemetry: what the record of a call is as spans and metrics.
  "analytics/telemetry": ["record", "analytics"],
  account: [
    "base/operation",
    "base/document",
    "base/process",
    "store",
    "store/installation",
    "store/events",
    "store/jobs",
    "src/workers/redaction.ts",
  ],
  // What needs somebody now; findings come by ports.
  "account/attention": ["base/operation", "src/account/roles.ts"],
  // What an org takes along; the rooms' own rows come by ports.
  "account/exports": ["base/operation", "store", "store/events", "store/jobs"],
  "account/identity": ["base/operation", "store", "store/events", "store/installation", "account"],
  "account/mail": [
    "base/operation",
    "src/base/process/modules.ts",
    "store",
    "store/events",
    "store/jobs",
    "account",
  ],
  "account/operator": [
    "base/operation",
    "base/process",
    "store",
    "store/events",
    "store/jobs",
    "credits/ledger",
    "account",
  ],
  // Directories of organisations: what an identity provider says of users and groups.
  "account/scim": ["base/operation", "store", "store/events", "store/jobs", "account"],
  "account/webhooks": ["base/operation", "store", "store/events", "store/jobs", "outbound", "account"],
  catalog: ["base/operation"],
  "catalog/models": ["base/operation", "base/document", "store", "catalog"],
  // Providers as whoever runs the installation sees them.
  "catalog/operator": ["base/operation", "catalog/models"],
  // Prices and models of other lists, for files of the catalog.
  "catalog/import": ["base/document", "catalog/models"],
  // An org's apps and the public pages; figures come by ports.
  "catalog/apps": ["base/operation", "store", "store/events", "account", "catalog", "catalog/models"],
  // From a quote to credit: top-ups, refunds, mandates, plans, subscriptions.
  billing: [
    "base/operation",
    "base/document",
    "store",
    "store/events",
    "store/jobs",
    "credits/ledger",
    "account",
    // Where payers reach the gateway.
    "src/account/identity/addresses.ts",
    "billing/payments",
    "billing/invoices",
  ],
  // What a payment gateway is asked and says; no money of ours moves here.
  "billing/payments": ["base/operation", "store", "store/jobs"],
  "billing/invoices": [
    "base/operation",
    "base/document",
    "store",
    "store/events",
    "store/jobs",
    "account",
    "account/mail",
    "src/workers/thread.ts",
  ],
  // Signed statements of what a call cost.
  "billing/receipts": [
    "base/operation",
    "record",
    "store",
    "store/installation",
    "credits/ledger",
    "src/account/provider-keys/vault.ts",
  ],
  inference: [],
  "inference/upstream": ["record", "wire"],
  "inference/exchange": [
    "base/operation",
    "record",
    "wire",
    "store",
    // Media that a body names by address.
    "outbound",
    "workers",
    "credits/ledger",
    "credits/budgets",
    "credits/kept",
    "credits/limits",
    "routing/health",
    "routing/planner",
    "routing/language",
    "analytics",
    "src/analytics/telemetry/call-trace.ts",
    "account",
    "catalog/models",
    "inference",
    "inference/upstream",
  ],
  // It takes from the account what authenticates a request and says which key may call a route.
  edge: [
    "base/operation",
    "base/document",
    "operations",
    "inference",
    "inference/exchange",
    "src/account/keyring.ts",
    "src/account/roles.ts",
    "src/account/scopes.ts",
    "src/account/versions.ts",
    // Who may ask how often.
    "src/credits/limits/limits.ts",
    "src/credits/limits/request-limits.ts",
    // The shape of errors for identity providers.
    "src/account/scim/error.ts",
    "src/analytics/telemetry/call-trace.ts",
  ],
  // What several processes of one installation share, through Redis.
  "cluster/cells": [
    "base/operation",
    "store",
    "store/jobs",
    "src/outbound/address.ts",
    "credits",
    "credits/ledger",
    "credits/budgets",
    "credits/kept",
    "credits/limits",
    "src/analytics/clickhouse/inserted-until.ts",
    "src/analytics/outbox/ledger.ts",
    "src/account/tables.ts",
    // The ports that it fills there.
    "src/inference/exchange/kept/kept-rows.ts",
    "src/inference/exchange/kept/open.ts",
  ],
  // What a dataset begins with, of the folder of one gateway.
  "cluster/cells/init": [
    "base/process",
    "store",
    "store/installation",
    "credits/ledger",
    "credits/budgets",
    "routing/policies",
    "account",
    "src/inference/exchange/kept/kept-in-folder.ts",
    "cluster/cells",
  ],
  // Several processes on one machine and one port; the analytics' engine comes by a port.
  "cluster/supervisor": ["base/process", "cluster/cells"],
  // The configuration is put together of the settings of all wings.
  "host/settings": [
    "base/document",
    "settings",
    // Files that only billing reads, and whose faults are told like those of the others.
    "src/billing/invoices/supplier.ts",
    "src/billing/rates/fx-config.ts",
  ],
  // Copies of an installation: how one is made beside a running gateway, and how it is proven before it is used.
  "host/backup": [
    "base/operation",
    "base/process",
    "store",
    "store/installation",
    "credits/ledger",
    "src/analytics/outbox/batch-queue.ts",
  ],
  // What a gateway runs itself for people who try it, in place of the services of others.
  "host/services": ["base/process", "cluster/supervisor", "simulator", "host/settings"],
  // Calls through throw-away gateways, before the real one listens.
  "host/warm-up": ["base/process", "account", "inference/upstream", "host/settings", "host/gateway"],
  // Each opens what it needs of the rooms, and nothing opens a command.
  "host/commands": [
    "base/operation",
    "base/document",
    "base/process",
    "store",
    "credits/ledger",
    "account",
    "catalog/models",
    "catalog/import",
    "billing/receipts",
    "cluster/supervisor",
    "settings",
    "host/settings",
    "host/backup",
    "host/services",
    "host/gateway",
    "host/warm-up",
    // What a Redis holds, without a gateway that runs.
    "cluster/cells",
    "cluster/cells/init",
    // The supervisor of cells is given it.
    "src/analytics/engine/engine.ts",
    "src/analytics/analysts/confinement-told.ts",
    "src/account/operator/operator-key.ts",
  ],
  "main.ts": ["base/process", "host/commands"],
  // No part of the product: it is what the product is held against.
  simulator: ["base/operation"],
};

/** Library → the only place of `src` that imports it. */
export const EXCLUSIVE: Readonly<Record<string, string>> = {
  lmdb: "src/store/",
  ioredis: "src/cluster/cells/",
  piscina: "src/workers/",
  "uWebSockets.js": "src/edge/",
  chdb: "src/analytics/",
  "@clickhouse/client": "src/analytics/",
  socks: "src/inference/upstream/http/",
  yaml: "src/base/document/",
  yazl: "src/account/exports/",
  stripe: "src/billing/payments/stripe/",
  razorpay: "src/billing/payments/razorpay/",
  pdfkit: "src/billing/invoices/",
  "badge-maker": "src/workers/",
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
