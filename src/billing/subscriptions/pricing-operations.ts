/**
 * `GET /v1/pricing`: what everything costs besides the models, for anybody. Made anew once a second at most, so a flood of
 * readers costs no more than one. Shape: specification, "Pricing document".
 */
import { z } from "zod";
import { type Clock, isoTime } from "../../base/clock.ts";
import { CURRENCIES } from "../../base/currency.ts";
import { operation } from "../../base/operation/operation.ts";
import { isFree } from "../../base/plan.ts";
import type { ByokFee } from "../../base/usage.ts";
import type { SupplierFile } from "../invoices/supplier.ts";
import { RATE_BPS } from "../invoices/tax.ts";
import type { FxTable } from "../rates/fx-table.ts";
import { type PlanList, planShape, planWire } from "./plan-list.ts";

export interface PricingDeps {
  readonly clock: Clock;
  readonly plans: PlanList;
  readonly fx: Pick<FxTable, "shown">;
  /** Undefined: nothing is sold. */
  readonly supplier: SupplierFile | undefined;
  /** Port: markups of the models that can be called, basis points. */
  readonly markups: () => Iterable<number>;
  /** For a call that an org's own provider key answered. */
  readonly byokFee: ByokFee;
}

const bps = z.int().nonnegative();

const pricingShape = z.object({
  currencies: z.array(z.string()).describe("In which orgs pay"),
  rails: z
    .array(
      z.object({
        rail: z.string().describe("The payment gateway"),
        items: z
          .array(
            z.object({
              method: z.string().describe("How is paid"),
              bps: bps.describe("Basis points of the total"),
              fixed_minor: z.int().optional().describe("On top, paise or cents"),
              note: z.string().optional().describe("For people"),
            }),
          )
          .describe("By method"),
      }),
    )
    .describe("What payment gateways charge the operator; no total contains it"),
  gst: z
    .object({
      rate_bps: bps.describe("The whole tax, basis points; 0 where the supplier is not Indian"),
      supplier_state: z.string().describe("The supplier's state code"),
      rule: z.string().describe("When which tax is due"),
    })
    .describe("Tax on top-ups"),
  fx: z
    .object({
      day: z.string().describe("Day of the rate; empty where there is none"),
      usd_inr: z.string().describe("INR for 1 USD, eight digits, without the spread"),
      spread_bps: bps.describe("On top of the rate, basis points"),
    })
    .describe("By which amounts in INR become credit"),
  plans: z.array(planShape).describe("One record for each plan and currency; a free plan has one"),
  minimums_minor: z
    .record(z.string(), z.int())
    .describe("Smallest top-up without tax by currency, paise or cents"),
  markup: z
    .object({
      frontier_bps: bps.describe("Markup of models at list price, basis points"),
      open_weight_min_bps: bps.describe("Smallest markup of the others; 0 where there are none"),
      open_weight_max_bps: bps.describe("Greatest markup of the others; 0 where there are none"),
      note: z.string().describe("For people"),
    })
    .describe("On list prices of models"),
  own_keys: z
    .object({
      fee_bps: bps.describe("Share of what the call would have cost here, basis points"),
      fee_micro_per_request: z.int().nonnegative().describe("On top, for each call, micro-USD"),
    })
    .describe("What a call costs here that your own provider key answered, instead of its usual price"),
  supplier: z
    .object({
      legal_name: z.string().describe("Who sells; empty where nothing is sold"),
      state: z.string().describe("The supplier's state code"),
      gstin: z.boolean().describe("Whether it is registered under India's GST"),
    })
    .describe("Who sells"),
  generated_at: z.string().describe("ISO 8601, UTC"),
});

type Pricing = z.output<typeof pricingShape>;

const KEPT_MS = 1000;
const INDIAN_RULE =
  "Recipients in India pay it in two equal parts, central and state tax, within the supplier's State, and as integrated tax elsewhere; exports are zero-rated.";
const NO_RULE = "The supplier is not registered under India's GST: none is charged.";
const MARKUP_NOTE =
  "Frontier models cost their providers' list price; each open-weight model has its markup, which is part of the prices shown.";

export function pricingOperations(deps: PricingDeps) {
  let kept: Pricing | undefined;
  let keptMs = Number.NEGATIVE_INFINITY;
  return {
    getPricing: operation({
      summary: "Prices, fees, taxes and plans",
      method: "GET",
      path: "/v1/pricing",
      access: "public",
      group: "Plans",
      output: pricingShape,
      run() {
        const nowMs = deps.clock.monotonic();
        if (kept === undefined || nowMs - keptMs >= KEPT_MS) {
          kept = pricingOf(deps);
          keptMs = nowMs;
        }
        return kept;
      },
    }),
  };
}

function pricingOf({ clock, plans, fx, supplier, markups, byokFee }: PricingDeps): Pricing {
  const isRegistered = supplier !== undefined && supplier.gstin !== "";
  const day = fx.shown();
  const marked = [...markups()].filter((markup) => markup > 0);
  const state = supplier?.state_code ?? "";
  return {
    currencies: supplier === undefined ? [] : [...CURRENCIES],
    rails: (supplier?.rails ?? []).map(({ rail, items }) => ({
      rail,
      items: items.map((item) => ({ ...item })),
    })),
    gst: {
      rate_bps: isRegistered ? RATE_BPS : 0,
      supplier_state: state,
      rule: isRegistered ? INDIAN_RULE : NO_RULE,
    },
    fx: { day: day?.day ?? "", usd_inr: day?.usdInr ?? "", spread_bps: supplier?.fx.spread_bps ?? 0 },
    plans: plans
      .offered()
      .flatMap((plan) =>
        (isFree(plan) ? CURRENCIES.slice(0, 1) : CURRENCIES).map((currency) => planWire(plan, currency)),
      ),
    minimums_minor: supplier === undefined ? {} : { ...supplier.minimums_minor },
    markup: {
      frontier_bps: 0,
      open_weight_min_bps: marked.reduce((least, markup) => Math.min(least, markup), marked[0] ?? 0),
      open_weight_max_bps: marked.reduce((most, markup) => Math.max(most, markup), 0),
      note: MARKUP_NOTE,
    },
    own_keys: { fee_bps: byokFee.bps, fee_micro_per_request: byokFee.microUsdPerRequest },
    supplier: { legal_name: supplier?.legal_name ?? "", state, gstin: isRegistered },
    generated_at: isoTime(clock.now()),
  };
}
