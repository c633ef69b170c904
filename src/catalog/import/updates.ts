/** What an offer changes of an endpoint that the files have. The other endpoints of its model keep what they have. */
import type { Edit } from "../../base/document/edit.ts";
import type { EndpointEntry, ModelEntry } from "../models/schema.ts";
import { CAPABILITIES, type Offer, PRICE_KEYS } from "./offer.ts";
import { flowList } from "./text.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
/** Changed along with the edits, so that a second offer of the same model builds on the first. */
export type OpenModel = Mutable<ModelEntry>;
type OpenEndpoint = Mutable<EndpointEntry>;

/** @param at path of the model in its file */
export function updatesOf(
  model: OpenModel,
  at: readonly (string | number)[],
  endpointAt: number,
  offer: Offer,
): Pick<EndpointUpdate, "edits" | "said"> {
  const update = new EndpointUpdate(model, model.endpoints[endpointAt] as OpenEndpoint, at);
  update.price(offer);
  update.limit("context", offer.context);
  if (model.task === "generate") update.limit("max_output", offer.maxOutput);
  if (model.task === "generate") update.capabilities(offer);
  update.modalities(offer);
  return update;
}

class EndpointUpdate {
  readonly edits: Edit[] = [];
  /** Such as `input 2 → 1.8`. */
  readonly said: string[] = [];
  readonly #model: OpenModel;
  readonly #endpoint: OpenEndpoint;
  readonly #modelPath: readonly (string | number)[];

  constructor(model: OpenModel, endpoint: OpenEndpoint, modelPath: readonly (string | number)[]) {
    this.#model = model;
    this.#endpoint = endpoint;
    this.#modelPath = modelPath;
  }

  /** Prices that the source does not name stay. */
  price({ price }: Offer): void {
    for (const key of PRICE_KEYS) {
      const usd = price[key];
      const before = this.#endpoint.price[key];
      if (usd === undefined || Number(usd) === before) continue;
      this.edits.push({ path: [...this.#pathOf(this.#endpoint), "price", key], text: usd });
      this.said.push(`${key} ${before ?? "none"} → ${usd}`);
    }
  }

  limit(key: "context" | "max_output", tokens: number): void {
    const { context } = this.#model;
    const of = (endpoint: OpenEndpoint): number =>
      key === "context"
        ? (endpoint.context ?? context)
        : (endpoint.max_output ?? Math.min(this.#model.max_output ?? 0, endpoint.context ?? context));
    const before = of(this.#endpoint);
    const wanted = key === "max_output" ? Math.min(tokens, this.#endpoint.context ?? context) : tokens;
    if (wanted === before) return;
    this.said.push(`${key} ${before} → ${wanted}`);
    const isAlone = this.#model.endpoints.length === 1 && this.#endpoint[key] === undefined;
    if (isAlone || wanted > (this.#model[key] ?? 0)) {
      const others = this.#model.endpoints.filter((e) => e !== this.#endpoint && e[key] === undefined);
      for (const other of others) this.#set(other, key, of(other));
      // A limit of the model bounds the answers that fit into it.
      if (key === "context" && isAlone && (this.#model.max_output ?? 0) > wanted)
        this.#setModel("max_output", wanted);
      this.#setModel(key, wanted);
      if (this.#endpoint[key] !== undefined) this.#set(this.#endpoint, key, wanted);
    } else this.#set(this.#endpoint, key, wanted);
    const { max_output: longest } = this.#endpoint;
    if (key === "context" && longest !== undefined && longest > wanted)
      this.#set(this.#endpoint, "max_output", wanted);
  }

  /** What the source does not say stays. */
  capabilities({ capabilities }: Offer): void {
    const before = this.#endpoint.capabilities ?? this.#model.capabilities ?? [];
    const wanted = CAPABILITIES.filter((name) => capabilities[name] ?? before.includes(name));
    const gained = wanted.filter((name) => !before.includes(name)).map((name) => `+${name}`);
    const lost = before.filter((name) => !wanted.includes(name)).map((name) => `-${name}`);
    if (gained.length + lost.length === 0) return;
    this.said.push(`capabilities ${[...gained, ...lost].join(" ")}`);
    const isAlone = this.#model.endpoints.length === 1 && this.#endpoint.capabilities === undefined;
    const owner = isAlone ? this.#model : this.#endpoint;
    owner.capabilities = wanted;
    this.edits.push({
      path: [...(isAlone ? this.#modelPath : this.#pathOf(this.#endpoint)), "capabilities"],
      text: flowList(wanted),
    });
  }

  modalities({ modalitiesIn }: Offer): void {
    const { modalities } = this.#model;
    const before = this.#endpoint.modalities_in ?? modalities.in;
    const same = before.length === modalitiesIn.length && modalitiesIn.every((m) => before.includes(m));
    if (same || modalitiesIn.length === 0) return;
    this.said.push(`modalities ${before.join(" ")} → ${modalitiesIn.join(" ")}`);
    const isAlone = this.#model.endpoints.length === 1 && this.#endpoint.modalities_in === undefined;
    const beyond = modalitiesIn.filter((m) => !modalities.in.includes(m));
    if (isAlone || beyond.length > 0) {
      for (const other of this.#model.endpoints.filter((e) => e !== this.#endpoint && !e.modalities_in))
        this.#setList(other, modalities.in);
      const whole = isAlone ? [...modalitiesIn] : [...modalities.in, ...beyond];
      this.#model.modalities = { ...modalities, in: whole };
      this.edits.push({ path: [...this.#modelPath, "modalities", "in"], text: flowList(whole) });
    }
    if (!isAlone) this.#setList(this.#endpoint, [...modalitiesIn]);
  }

  #setModel(key: "context" | "max_output", value: number): void {
    this.#model[key] = value;
    this.edits.push({ path: [...this.#modelPath, key], text: String(value) });
  }

  #set(endpoint: OpenEndpoint, key: "context" | "max_output", value: number): void {
    endpoint[key] = value;
    this.edits.push({ path: [...this.#pathOf(endpoint), key], text: String(value) });
  }

  #setList(endpoint: OpenEndpoint, value: ModelEntry["modalities"]["in"]): void {
    endpoint.modalities_in = value;
    this.edits.push({ path: [...this.#pathOf(endpoint), "modalities_in"], text: flowList(value) });
  }

  #pathOf(endpoint: OpenEndpoint): (string | number)[] {
    return [...this.#modelPath, "endpoints", this.#model.endpoints.indexOf(endpoint)];
  }
}
