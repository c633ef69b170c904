/** How the gateway fills the ports of billing, out of the rooms that billing does not know. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { billingPorts } from "../../../../src/host/gateway/billing-ports.ts";

type Ground = Parameters<typeof billingPorts>[0];

const model = (markupBps: number, endpoints: number) => ({ markupBps, endpoints: Array(endpoints).fill({}) });
const MODELS = new Map([model(0, 1), model(300, 2), model(900, 0)].map((each, i) => [`m${i}`, each]));

const address = { url: "http://127.0.0.1:9", key: "k", webhookSecret: "s" };
const services = {
  used: undefined as typeof address | undefined,
  payments: async () => address,
  portal: async () => "http://127.0.0.1:8",
  state: () => ({ ports: [], payments: services.used }),
  onChange() {},
};

const ports = (cell?: { seenEverywhere(): Promise<void> }) =>
  billingPorts({ catalog: { current: () => ({ models: MODELS }) }, cell, services } as unknown as Ground);

test("markups are those of models that can be called", () => {
  expect(ports().markups()).toEqual([0, 300]);
});

test("the simulated payment service is used once the services know its address", async () => {
  const { simulatedPayments } = ports();
  expect(simulatedPayments.isUsed()).toBe(false);
  services.used = address;
  expect(simulatedPayments.isUsed()).toBe(true);
  expect(await simulatedPayments.reach()).toBe(address);
});

test("what every cell must read is waited for among cells, and is there at once at a gateway alone", async () => {
  await ports().seenEverywhere();
  const seen = Promise.withResolvers<void>();
  const order: string[] = [];
  const cell = { seenEverywhere: () => seen.promise };
  const heard = ports(cell)
    .seenEverywhere()
    .then(() => order.push("heard"));
  await nextTurn();
  order.push("seen");
  seen.resolve();
  await heard;
  expect(order).toEqual(["seen", "heard"]);
});
