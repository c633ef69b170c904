/** Webhooks in the console: the words, the forms, and the programs that one copies. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { subjectOf } from "../../../console/pages/webhooks/event-subject.ts";
import { ALL_EVENTS, EVENT_WORDS, isEventType } from "../../../console/pages/webhooks/event-words.ts";
import { RECEIVERS } from "../../../console/pages/webhooks/receivers.ts";
import {
  bodyOf,
  faultsOf,
  NEW_VALUES,
  patchOf,
  valuesOf,
} from "../../../console/pages/webhooks/webhook-values.ts";
import {
  answerOf,
  type Delivery,
  isHidden,
  nameOf,
  stateOf,
  type Webhook,
  whyOf,
  whyPaused,
} from "../../../console/pages/webhooks/webhook-words.ts";
import { EVENT_NAMES } from "../../../src/store/events/types.ts";

const WEBHOOK: Webhook = {
  id: "whk_1",
  org_id: "org_1",
  url: "https://example.com/hook",
  events: ["key.created", "budget.exceeded"],
  description: "Ours",
  status: "active",
  waiting: 0,
  created_at: "2026-11-01T00:00:00.000Z",
};

describe("types of events", () => {
  test("each has words, and each but the test is offered once", () => {
    expect(Object.keys(EVENT_WORDS).sort()).toEqual([...EVENT_NAMES].sort());
    expect([...ALL_EVENTS].sort()).toEqual(EVENT_NAMES.filter((name) => name !== "webhook.test").sort());
    expect([isEventType("key.created"), isEventType("toString"), isEventType("")]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe("the form", () => {
  test("asks for an address, and for a choice where not all is wanted", () => {
    expect(faultsOf(NEW_VALUES)).toHaveProperty("url");
    expect(faultsOf({ ...NEW_VALUES, url: "ftp://example.com" })).toHaveProperty("url");
    expect(faultsOf({ ...NEW_VALUES, url: " https://example.com " })).toEqual({});
    expect(faultsOf({ ...NEW_VALUES, url: "https://example.com", isAll: false })).toHaveProperty("events");
  });

  test("sends the types in their order, and none where all are wanted", () => {
    const values = { ...valuesOf(WEBHOOK), url: " https://example.com/hook " };
    expect(bodyOf({ ...values, events: ["budget.exceeded", "key.created"] })).toEqual({
      url: "https://example.com/hook",
      description: "Ours",
      events: ["key.created", "budget.exceeded"],
    });
    expect(bodyOf({ ...values, isAll: true }).events).toEqual([]);
  });

  test("changes what differs alone", () => {
    const values = valuesOf(WEBHOOK);
    expect(patchOf(WEBHOOK, { ...values, events: ["budget.exceeded", "key.created"] })).toBeUndefined();
    expect(patchOf(WEBHOOK, { ...values, description: "Theirs" })).toEqual({ description: "Theirs" });
    expect(patchOf(WEBHOOK, { ...values, isAll: true })).toEqual({ events: [] });
    expect(patchOf(WEBHOOK, { ...values, events: ["key.created"] })).toEqual({ events: ["key.created"] });
  });
});

describe("words", () => {
  test("of a webhook's state", () => {
    const failing = { ...WEBHOOK, failing_since: "2026-11-02T00:00:00.000Z" };
    const gone: Webhook = { ...WEBHOOK, status: "disabled", disabled_reason: "gone" };
    expect([WEBHOOK, failing, gone].map((each) => stateOf(each).text)).toEqual([
      "active",
      "active, failing",
      "paused",
    ]);
    expect([whyPaused(WEBHOOK), whyPaused(gone)]).toEqual([undefined, expect.stringContaining("410")]);
    expect([nameOf(WEBHOOK), nameOf({ ...WEBHOOK, description: "" })]).toEqual(["Ours", "example.com/hook"]);
  });

  test("of what came back", () => {
    expect(answerOf({ attempt: 0, http_status: 0, error: "" })).toBe("not tried yet");
    expect(answerOf({ attempt: 0, http_status: 0, error: "The webhook was disabled." })).toBe(
      "The webhook was disabled.",
    );
    expect(answerOf({ attempt: 2, http_status: 503, error: "HTTP 503." })).toBe("answered 503");
    expect(answerOf({ attempt: 1, http_status: 0, error: "It did not answer in time." })).toBe(
      "It did not answer in time.",
    );
  });

  test("of why it is not well", () => {
    expect(whyOf({ http_status: 204, error: "" })).toBeUndefined();
    expect(whyOf({ http_status: 302, error: "HTTP 302: redirects are not followed." })).toMatch(/redirects/);
    expect(whyOf({ http_status: 500, error: "HTTP 500." })).toMatch(/^The receiver answered 500;/);
    expect(whyOf({ http_status: 0, error: "No connection." })).toBe("No connection.");
  });

  test("say that an answer is not shown only where there was one", () => {
    const seen = (change: Partial<Delivery>) =>
      isHidden({ http_status: 500, response: "", response_headers: {}, ...change } as Delivery);
    expect(seen({})).toBe(true);
    expect(seen({ response_headers: { server: "nginx" } })).toBe(false);
    expect(seen({ response: "no" })).toBe(false);
    expect(seen({ http_status: 0 })).toBe(false);
  });
});

test.each([
  ["key.created", { id: "key_1", name: "Batch" }, { kind: "key", id: "key_1", name: "Batch" }],
  ["budget.exceeded", { id: "prj_1", spent_micro: 1 }, { kind: "project", id: "prj_1" }],
  ["limits.changed", { key_id: "key_2", limits: {} }, { kind: "key", id: "key_2" }],
  ["policy.activated", { name: "economy" }, { kind: "policy", id: "economy" }],
  ["credits.low", { available_micro: 1 }, undefined],
  ["credits.low", null, undefined],
  ["key.created", { id: 7 }, undefined],
] as const)("%s is about what its data names", (type, data, subject) => {
  expect(subjectOf({ type, data })).toEqual(subject);
});

test("the programs that one copies are those of docs/webhooks.md", () => {
  const docs = readFileSync(join(import.meta.dirname, "../../../docs/webhooks.md"), "utf8");
  for (const [, text] of RECEIVERS) expect(docs).toContain(`\n${text}\n\`\`\``);
});
