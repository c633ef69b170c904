/** What is shown of the catalog: search, filters and order, all by the address. Pure. */
import type { Operations } from "../../api/operations.ts";

export type Model = Operations["listModels"]["answer"]["data"][number];
export type Capability = keyof Model["capabilities"];

/** Capabilities and what each is called. */
export const CAPABILITIES = [
  ["tools", "Tools"],
  ["json_schema", "JSON schema"],
  ["vision", "Pictures"],
  ["audio", "Sound"],
  ["reasoning", "Reasoning"],
  ["cache", "Prompt cache"],
  ["zdr", "Keeps nothing"],
  ["no_train", "Does not train"],
] as const satisfies readonly (readonly [Capability, string])[];

export const MODALITIES = [
  ["text", "Text"],
  ["image", "Pictures"],
  ["audio", "Sound"],
  ["video", "Video"],
] as const;

/** A model whose figure is missing comes last, in either direction. */
const MISSING = Number.NaN;

/** By column: what rows are ordered by. */
const ORDERS = {
  name: (model: Model) => model.name.toLowerCase(),
  input: (model: Model) => model.pricing_from.input,
  output: (model: Model) => model.pricing_from.output,
  cache: (model: Model) => model.pricing_from.cache_read,
  context: (model: Model) => model.context_length,
  max_output: (model: Model) => model.max_output,
  uptime: (model: Model) => (isMeasured(model) ? model.uptime_30d : MISSING),
  first: (model: Model) => model.ttft_p50_ms || MISSING,
  endpoints: (model: Model) => model.endpoints,
  newest: (model: Model) => model.created || MISSING,
  calls: (model: Model) => model.requests_7d,
} as const;
export type Order = keyof typeof ORDERS;

/** Orders that begin with the greatest. */
const GREATEST_FIRST: readonly Order[] = ["context", "max_output", "uptime", "endpoints", "newest", "calls"];

export interface Wanted {
  readonly text: string;
  readonly vendor: string;
  readonly modality: string;
  readonly capabilities: readonly Capability[];
  readonly order: Order;
  readonly isDescending: boolean;
}

export function wantedOf(query: URLSearchParams): Wanted {
  const asked = query.get("sort") ?? "";
  const isBack = asked.startsWith("-");
  const name = isBack ? asked.slice(1) : asked;
  const order = Object.hasOwn(ORDERS, name) ? (name as Order) : "name";
  const can = (query.get("can") ?? "").split(",");
  return {
    text: query.get("q") ?? "",
    vendor: query.get("vendor") ?? "",
    modality: query.get("modality") ?? "",
    capabilities: CAPABILITIES.flatMap(([each]) => (can.includes(each) ? [each] : [])),
    order,
    isDescending: GREATEST_FIRST.includes(order) !== isBack,
  };
}

/** What the address says after a click on a column: its usual direction, then the other. */
export function nextSort(order: Order, now: Wanted): string {
  if (now.order !== order) return order;
  const isUsual = now.isDescending === GREATEST_FIRST.includes(order);
  return isUsual ? `-${order}` : order;
}

/** Whether there was a call of which figures could come. */
export const isMeasured = ({ ttft_p50_ms: first, requests_7d: calls, uptime_30d: uptime }: Model): boolean =>
  first > 0 || calls > 0 || uptime < 1;

export function shownModels(models: readonly Model[], wanted: Wanted): Model[] {
  const text = wanted.text.trim().toLowerCase();
  const found = models.filter(
    (model) =>
      (text === "" || textOf(model).includes(text)) &&
      (wanted.vendor === "" || model.vendor === wanted.vendor) &&
      (wanted.modality === "" || usesModality(model, wanted.modality)) &&
      wanted.capabilities.every((each) => model.capabilities[each]),
  );
  const of = ORDERS[wanted.order];
  return found.sort((a, b) => compared(of(a), of(b), wanted.isDescending) || (a.id < b.id ? -1 : 1));
}

const textOf = ({ id, name, aliases = [] }: Model): string => [id, name, ...aliases].join("\n").toLowerCase();

const usesModality = ({ modalities }: Model, wanted: string): boolean =>
  [...modalities.in, ...modalities.out].some((each) => each === wanted);

function compared(a: string | number, b: string | number, isDescending: boolean): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  const way = a < b ? -1 : a > b ? 1 : 0;
  return isDescending ? -way : way;
}

/** Vendors of the catalog, by name. */
export const vendorsOf = (models: readonly Model[]): string[] =>
  [...new Set(models.map(({ vendor }) => vendor))].sort();

/** Models that one comparison shows. */
export const MOST_COMPARED = 4;

/** Ids to compare; none where the address names none. */
export const comparedIds = (query: URLSearchParams): string[] =>
  [...new Set((query.get("compare") ?? "").split(","))].filter((id) => id !== "").slice(0, MOST_COMPARED);

export const abilitiesOf = ({ capabilities }: Model): string =>
  CAPABILITIES.flatMap(([name, title]) => (capabilities[name] ? [title] : [])).join(", ");
