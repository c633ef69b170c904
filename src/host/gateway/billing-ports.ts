/** What billing is given: its part of the settings, and its ports to the catalog, the machine's services and the other cells. */
import type { BillingPorts, BillingSettings } from "../../billing/open.ts";
import type { SimulatedPayments } from "../../billing/payments/open.ts";
import type { Catalog } from "../../catalog/models/catalog.ts";
import type { KnownServices } from "../../cluster/supervisor/services.ts";
import { byokFeeOf } from "../../inference/exchange/settings.ts";
import { ratesOf, supplierOf } from "../settings/billing-files.ts";
import { type Config, isLocalOnly } from "../settings/config.ts";
import type { Ground } from "./ground.ts";

/** @throws ConfigError where `supplier.yaml` or `fx.yaml` is not valid */
export const billingSettings = (config: Config): BillingSettings => ({
  supplier: supplierOf(config),
  rates: ratesOf(config),
  fxUrl: config.fxUrl,
  payments: config.payments,
  plans: config.plans,
  defaultPlan: config.settings.default_plan,
  byokFee: byokFeeOf(config.settings),
  quotas: config.settings.quotas,
  publicUrl: config.publicUrl,
  isLocalOnly: isLocalOnly(config),
});

type Filled = "simulatedPayments" | "simulatedPortal" | "seenEverywhere" | "markups";

export const billingPorts = ({
  catalog,
  cell,
  services,
}: Pick<Ground, "catalog" | "cell" | "services">): Pick<BillingPorts, Filled> => ({
  simulatedPayments: simulatedPayments(services),
  simulatedPortal: () => services.portal(),
  seenEverywhere: async () => await cell?.seenEverywhere(),
  markups: () => markupsOf(catalog),
});

/** Where payments are simulated: the service of this process, or of the machine's supervisor. */
export const simulatedPayments = (
  services: Pick<KnownServices, "payments" | "state" | "onChange">,
): SimulatedPayments => ({
  reach: () => services.payments(),
  isUsed: () => services.state().payments !== undefined,
  onChange: (changed) => services.onChange(changed),
});

/** Markups of the models that can be called. */
const markupsOf = (catalog: Pick<Catalog, "current">): number[] =>
  [...catalog.current().models.values()]
    .filter(({ endpoints }) => endpoints.length > 0)
    .map(({ markupBps }) => markupBps);
