/** Whatever a person may change can be changed from a page: the table of routes beside what the journeys in a browser call. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { JOURNEYS } from "../../support/console/journeys.ts";
import { nameOf, table } from "../../support/routes/calls.ts";

/** Routes that no page calls, by why. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  "programs call models; the playground tries them in the gateway's own format": [
    "POST /v1/chat/completions",
    "POST /v1/completions",
    "POST /v1/messages",
    "POST /v1/messages/count_tokens",
    "POST /v1/responses",
    "POST /v1/responses/input_tokens",
    "POST /v1/embeddings",
    "POST /v1/svc/embed",
    "POST /v1/svc/rerank",
    "POST /v1/svc/count_tokens",
  ],
  "programs keep what they say": [
    "POST /v1/responses/{id}/cancel",
    "DELETE /v1/responses/{id}",
    "POST /v1/conversations",
    "POST /v1/conversations/{id}",
    "DELETE /v1/conversations/{id}",
    "POST /v1/conversations/{id}/items",
    "DELETE /v1/conversations/{id}/items/{item_id}",
  ],
  "a company's directory calls it": [
    "POST /scim/v2/Users",
    "PUT /scim/v2/Users/{id}",
    "PATCH /scim/v2/Users/{id}",
    "DELETE /scim/v2/Users/{id}",
    "POST /scim/v2/Groups",
    "PUT /scim/v2/Groups/{id}",
    "PATCH /scim/v2/Groups/{id}",
    "DELETE /scim/v2/Groups/{id}",
  ],
  "a payment service calls it": ["POST /webhooks/payments/{gateway}"],
  "an identity provider calls it": ["POST /auth/backchannel-logout"],
  "a scanner of secrets calls it": ["POST /v1/keys/report"],
};

const changing = table.filter(({ method }) => method !== "GET").map(nameOf);
const inJourneys = new Set<string>(Object.values(JOURNEYS).flat());
const excepted = Object.values(EXCEPTIONS).flat();

test("a page calls each route that changes something, save those that are named with a reason", () => {
  expect(changing.filter((name) => !inJourneys.has(name) && !excepted.includes(name))).toEqual([]);
});

test("what is excepted is a route, and no journey calls it", () => {
  expect(excepted.filter((name) => !changing.includes(name) || inJourneys.has(name))).toEqual([]);
});

test("what a journey calls is a route, and each journey is compared with what its pages called", () => {
  expect([...inJourneys].filter((name) => !changing.includes(name))).toEqual([]);
  const lanes = ["browser", "cells"].map((lane) => join(import.meta.dirname, "../..", lane));
  const texts = lanes.flatMap((lane) =>
    readdirSync(lane, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".test.ts"))
      .map((path) => readFileSync(join(lane, path), "utf8")),
  );
  const compared = Object.keys(JOURNEYS).filter((name) =>
    texts.some((text) => new RegExp(`expectActs\\(\\s*"${name}"`).test(text)),
  );
  expect(compared).toEqual(Object.keys(JOURNEYS));
});
