/** Writes new models and endpoints as YAML, in the style of the shipped files. */
import type { Modality } from "../../base/endpoint.ts";
import { CAPABILITIES, type Offer, PRICE_KEYS } from "./offer.ts";

/** What an endpoint inherits of its model. */
export interface Inherited {
  readonly context: number;
  readonly maxOutput: number;
  readonly modalitiesIn: readonly Modality[];
  readonly capabilities: readonly string[];
}

export interface NewEndpoint {
  readonly offer: Offer;
  /** Undefined where the provider has one. */
  readonly region: string | undefined;
}

export const capabilitiesOf = ({ capabilities }: Offer): string[] =>
  CAPABILITIES.filter((name) => capabilities[name] === true);

/** A word that YAML reads as text, or the text in quotes. */
export const word = (text: string): string =>
  /^[A-Za-z][A-Za-z0-9._/-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|nan|inf)$/i.test(text)
    ? text
    : JSON.stringify(text);

export const flowList = (items: readonly string[]): string => `[${items.join(", ")}]`;

const priceText = ({ price }: Offer): string =>
  PRICE_KEYS.flatMap((key) => (price[key] === undefined ? [] : [`${key}: ${price[key]}`])).join(", ");

/** Lines of an item of `endpoints`; only what differs from the model, and nothing beyond it. */
export function endpointLines({ offer, region }: NewEndpoint, model: Inherited): string[] {
  const context = Math.min(offer.context, model.context);
  const maxOutput = Math.min(offer.maxOutput, model.maxOutput, context);
  const modalities = model.modalitiesIn.filter((m) => offer.modalitiesIn.includes(m));
  const capabilities = capabilitiesOf(offer);
  const isGenerating = offer.task === "generate";
  return [
    `- provider: ${offer.provider}`,
    `  upstream_model: ${word(offer.upstream)}`,
    ...offer.notes.map((note) => `  # ${note}`),
    ...(region === undefined ? [] : [`  region: ${region}`]),
    ...(offer.dialects === undefined ? [] : [`  dialects: ${flowList(offer.dialects)}`]),
    ...(context === model.context ? [] : [`  context: ${context}`]),
    ...(isGenerating && maxOutput !== Math.min(model.maxOutput, context)
      ? [`  max_output: ${maxOutput}`]
      : []),
    ...(isGenerating && capabilities.join() !== model.capabilities.join()
      ? [`  capabilities: ${flowList(capabilities)}`]
      : []),
    ...(modalities.length > 0 && modalities.length !== model.modalitiesIn.length
      ? [`  modalities_in: ${flowList(modalities)}`]
      : []),
    `  price: { ${priceText(offer)} }`,
  ];
}

/** Lines of an item of `models`. @param endpoints at least one */
export function modelLines(id: string, endpoints: readonly NewEndpoint[]): string[] {
  const offers = endpoints.map(({ offer }) => offer);
  const [first] = offers;
  if (first === undefined) return [];
  const fullest = <T>(lists: readonly (readonly T[])[]) =>
    lists.reduce((a, b) => (b.length > a.length ? b : a));
  const context = Math.max(...offers.map((o) => o.context));
  const model: Inherited = {
    context,
    maxOutput: Math.min(context, Math.max(...offers.map((o) => o.maxOutput))),
    modalitiesIn: fullest(offers.map((o) => o.modalitiesIn)),
    capabilities: fullest(offers.map(capabilitiesOf)),
  };
  const released = offers
    .map((o) => o.released)
    .sort()
    .find((day) => day !== "");
  const isGenerating = first.task === "generate";
  return [
    `- id: ${id}`,
    `  name: ${JSON.stringify(first.name.slice(0, 120))}`,
    ...(isGenerating ? [] : ["  task: embed"]),
    ...(released === undefined ? [] : [`  released: ${released}`]),
    `  modalities: { in: ${flowList(model.modalitiesIn)}, out: [${isGenerating ? "text" : ""}] }`,
    `  context: ${model.context}`,
    ...(isGenerating
      ? [`  max_output: ${model.maxOutput}`, `  capabilities: ${flowList(model.capabilities)}`]
      : []),
    "  endpoints:",
    ...endpoints.flatMap((endpoint) => endpointLines(endpoint, model).map((line) => `    ${line}`)),
  ];
}
