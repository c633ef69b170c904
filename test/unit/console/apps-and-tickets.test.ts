/** Forms and words of apps and of tickets in the console. */
import { describe, expect, test } from "vitest";
import {
  type App,
  faultsOf as appFaults,
  CATEGORY_WORDS,
  categoryText,
  createBody,
  NEW_VALUES,
  namesOf,
  patchBody,
  snippetsOf,
  useOf,
  valuesOf,
} from "../../../console/pages/apps/app-values.ts";
import {
  limitsBody,
  newValues,
  ticketBody,
  faultsOf as ticketFaults,
} from "../../../console/pages/tickets/ticket-values.ts";
import { askedOf, KIND_WORDS, nextOf } from "../../../console/pages/tickets/ticket-words.ts";
import { TICKET_KINDS, TICKET_STATUSES } from "../../../src/account/tickets/ticket.ts";
import { CATEGORIES } from "../../../src/catalog/apps/app.ts";

const APP: App = {
  slug: "acme-chat",
  name: "Acme Chat",
  category: "coding",
  url: "https://Chat.acme.example:8443/a",
  public: false,
  created_at: "2026-11-01T00:00:00.000Z",
};

describe("apps", () => {
  test("each category has words", () => {
    expect(Object.keys(CATEGORY_WORDS)).toEqual([...CATEGORIES]);
    expect([categoryText("image_video"), categoryText("of_tomorrow")]).toEqual([
      "Images and video",
      "of_tomorrow",
    ]);
  });

  test("a form says what is wrong, and sends what differs", () => {
    expect(Object.keys(appFaults({ ...NEW_VALUES, url: "chat.example" }))).toEqual(["name", "url"]);
    expect(createBody({ ...NEW_VALUES, name: " Acme " })).toEqual({
      name: "Acme",
      category: "other",
      url: "",
      public: false,
    });
    expect(patchBody(APP, valuesOf(APP))).toBeUndefined();
    expect(patchBody(APP, { ...valuesOf(APP), url: "", isPublic: true })).toEqual({ url: "", public: true });
  });

  test("calls of each of its names are its use", () => {
    expect(namesOf(APP)).toEqual(["acme-chat", "Acme Chat", "chat.acme.example:8443"]);
    expect(namesOf({ ...APP, name: "acme-chat", url: "" })).toEqual(["acme-chat"]);
    const of = (key: string) => ({ key, requests: 1, input_tokens: 10, output_tokens: 5, cost_micro: 7 });
    expect(useOf(APP, ["acme-chat", "Acme Chat", "acme chat", ""].map(of))).toEqual({
      requests: 2,
      tokens: 30,
      costMicro: 14,
    });
  });

  test("what is copied keeps a name from ending its link or its tag", () => {
    const { markdown, markup } = snippetsOf({ slug: "a", name: `"](x) <b>` }, "https://weir.example");
    expect(markdown).toBe(
      `[!["\\](x) <b>](https://weir.example/v1/apps/a/badge)](https://weir.example/v1/apps/a/public)`,
    );
    expect(markup).toContain(`alt="&quot;](x) &lt;b&gt;"`);
  });
});

describe("tickets", () => {
  test("each kind has words, and each state says what happens next", () => {
    expect(Object.keys(KIND_WORDS).sort()).toEqual([...TICKET_KINDS].sort());
    for (const kind of TICKET_KINDS)
      for (const status of TICKET_STATUSES) expect(nextOf({ kind, status }).length).toBeGreaterThan(20);
  });

  test("an address says what a new one is about", () => {
    expect(newValues("limits", "key_1")).toMatchObject({ about: "limits", keyId: "key_1" });
    expect(newValues("close_org", "").about).toBe("other");
  });

  test("only the fields that are shown are at fault", () => {
    expect(ticketFaults(newValues("", ""))).toHaveProperty("subject");
    expect(Object.keys(ticketFaults(newValues("limits", "")))).toEqual(["keyId", "rpm"]);
    for (const rpm of ["0", "-1", "1.5", "many", "1e400"])
      expect(ticketFaults({ ...newValues("limits", "key_1"), rpm })).toHaveProperty("rpm");
    expect(ticketFaults({ ...newValues("limits", "key_1"), rpm: "12,000" })).toEqual({});
  });

  test("the bodies", () => {
    const limits = { ...newValues("limits", "key_1"), rpm: " 12 000 ", reason: " the sale " };
    expect(limitsBody(limits)).toEqual({ key_id: "key_1", rpm: 12_000, reason: "the sale" });
    const refund = { ...newValues("refund", ""), subject: " Twice ", message: "m" };
    expect(ticketBody(refund)).toEqual({ kind: "refund", subject: "Twice", message: "m" });
  });

  test("details are read by what they are", () => {
    expect(askedOf({ body: { key_id: "key_1", rpm: 5, reason: "" } })).toMatchObject({
      keyId: "key_1",
      rpm: 5,
      words: undefined,
    });
    expect(askedOf({ body: { message: "Hello" } })).toMatchObject({ words: "Hello", keyId: undefined });
  });
});
