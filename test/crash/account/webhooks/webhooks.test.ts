/**
 * Webhooks of every bad kind beside good ones, while the process that sends is killed -9: each good receiver gets each event, signed;
 * the bad ones cost the others nothing; and nothing private is ever reached. How soon they get it: test/timed/account/webhooks.
 */
import { expect, test } from "vitest";
import { amount } from "../../../support/effort.ts";
import { deliver, EVENTS, KILLS, KINDS } from "./delivery.ts";

const { well, slow, dead, flapping } = KINDS;

test(
  `${well} good receivers beside ${slow} slow, ${dead} dead, ${flapping} flapping, a redirecting and a rebinding one get ${EVENTS} events, with ${KILLS} kills -9`,
  async () => {
    const { receivers, ended } = await deliver();
    const { got, urls } = receivers;
    expect([...got].flatMap(([name, { faults }]) => faults.map((text) => `${name}: ${text}`))).toEqual([]);
    expect(receivers.wellGot().map((events) => events.size)).toEqual(Array(well).fill(EVENTS));
    expect(receivers.intrusions).toBe(0);
    expect(ended.redirecting?.delivered).toBe(0);
    expect(ended.redirecting?.errors.join()).toContain("redirects are not followed");
    expect(ended.rebinding?.errors.join()).toContain("not allowed");
    for (const name of Object.keys(urls).filter((text) => text.startsWith("dead"))) {
      expect(ended[name]?.delivered).toBe(0);
      // Left alone, it is not called for each event.
      expect(ended[name]?.attempts).toBeLessThan(EVENTS / 2);
    }
  },
  amount(3_600_000, 600_000),
);
