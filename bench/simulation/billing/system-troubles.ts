/** What happens to the machines: the payment service and the portal are away, the process dies, a day's rate is missing. */
import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts";
import { dayOf } from "../../../src/billing/rates/fx-table.ts";
import type { World } from "./world.ts";

/** Plans the day that begins now. */
export function troubleDay(world: World): void {
  const { dice, time, service, portal, figures } = world.parts;
  const sometime = () => dice.between(0, DAY_MS);
  putRate(world);
  if (dice.chance(0.06))
    world.later(sometime(), () => {
      figures.add("payment service: times away");
      service.isSilent = dice.chance(0.5);
      service.awayUntilMs = time.now() + dice.between(0.5, 9) * HOUR_MS;
    });
  if (dice.chance(0.04))
    world.later(sometime(), () => {
      figures.add("documents: times the portal was away");
      portal.awayUntilMs = time.now() + dice.between(0.5, 12) * HOUR_MS;
    });
  if (dice.chance(0.3)) world.later(sometime(), () => world.process?.dieSoon());
  if (dice.chance(0.04)) world.later(sometime(), () => world.process?.kill());
  if (dice.chance(0.02)) world.later(sometime(), () => payUnknown(world));
}

/** Rates walk from day to day; some days bring none, some weeks neither. */
export function putRate(world: World): void {
  const { dice, time, figures } = world.parts;
  const { market } = world;
  const isFirst = world.rates.size === 0;
  market.rupees *= 1 + dice.between(-0.005, 0.005);
  if (!isFirst && !world.isEnding && dice.chance(0.01))
    market.closedUntilMs = time.now() + dice.between(3, 8) * DAY_MS;
  if (time.now() < market.closedUntilMs || (!isFirst && !world.isEnding && dice.chance(0.1))) {
    figures.add("rates: days without one");
    return;
  }
  const day = dayOf(time.now());
  const usdInr = market.rupees.toFixed(8);
  const put = async () => {
    const { process } = world;
    if (process === undefined) return world.later(HOUR_MS, put);
    await process.store.act(() => process.rooms.fx.put({ day, usdInr, source: "simulation" }));
    figures.add("rates: days with one");
  };
  world.later(1000, put);
}

/** Somebody pays into our account for something else. */
function payUnknown(world: World): void {
  const { service, time, dice, figures } = world.parts;
  const { id } = service.engine.openCheckout({
    house: "simulated",
    mode: "payment",
    reference: `other-${dice.integer(0, 1e9)}`,
    amount: 50_000,
    currency: "INR",
    description: "",
    payerName: "",
    email: "",
    customerId: "",
    cap: 0,
    returnUrl: "http://elsewhere",
    expiresAtMs: time.now() + HOUR_MS,
    methods: ["upi"],
  });
  figures.add("payers: paid for something else");
  service.engine.pay(id);
}
