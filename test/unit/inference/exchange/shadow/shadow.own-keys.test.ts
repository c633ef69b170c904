/** Copies of calls of an org with provider keys of its own. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { ownKey } from "../../../../../src/base/provider-key.ts";
import type { OwnKeys } from "../../../../../src/routing/health/health.ts";
import { bench, SHADOW, turn } from "../shadow.fixtures.ts";

let b: ReturnType<typeof bench>;
beforeEach(() => {
  b = bench();
});
afterEach(() => b.dispose());

const OWN = ownKey("pk_1", SHADOW.provider.id, "an-own-secret");

const ownKeys = (platformFallback: boolean): OwnKeys => ({
  of: (id) => (id === SHADOW.provider.id ? [OWN] : []),
  platformFallback: () => platformFallback,
  modelFor: (model) => model,
});

test.each([
  { bill: "platform", mayFallBack: true, by: [SHADOW.provider.keys[0]?.id] },
  // Its org lets nothing go there with the gateway's credential, and the copy is not for its org to pay.
  { bill: "platform", mayFallBack: false, by: [] },
  { bill: "org", mayFallBack: false, by: [OWN.id] },
] as const)(
  "bill $bill, platform_fallback $mayFallBack: asked with $by",
  async ({ bill, mayFallBack, by }) => {
    const shadows = b.open();
    const orgId = await b.org(1_000_000);
    const reserved = b.begun({ bill, key: { orgId } });
    reserved.ownKeys = ownKeys(mayFallBack);
    const run = shadows.start(reserved);
    await turn();
    expect(b.sent.map(({ request }) => request.key.id)).toEqual(by);
    expect(shadows.counts().dropped).toBe(by.length === 0 ? 1 : 0);
    run?.primaryEnded(undefined);
    expect(b.credits.open().holds).toBe(0);
  },
);
