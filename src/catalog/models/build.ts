/**
 * Turns the catalog's files into providers, endpoints and models, after the checks that span files: references,
 * duplicates, limits. Endpoints without a credential are built too, marked inactive, so that their prices keep their
 * history.
 */
import { type Problem, pointerTo } from "../../base/document/document.ts";
import { didYouMean, nearest } from "../../base/document/nearest.ts";
import type { Capabilities, Dialect, Endpoint, Modality, Provider, Task } from "../../base/endpoint.ts";
import type { CatalogFiles, Checked, ConfigDocument } from "./files.ts";
import { namesOfAlias } from "./model-names.ts";
import type { PriceTable } from "./price-versions.ts";
import { type DatedPrices, listPriceTable, markedUp, priceFaults } from "./prices.ts";
import { buildProviders, dataPolicyOf, type Environment } from "./providers.ts";
import type { EndpointEntry, ModelEntry, ModelsFile, PriceEntry } from "./schema.ts";

/** An endpoint without its price version yet. */
export interface EndpointDraft {
  readonly endpoint: Omit<Endpoint, "prices" | "listPrices">;
  readonly prices: PriceTable;
  readonly listPrices: PriceTable;
  /** Prices that replace these at an instant, the earliest first; also those whose instant is over. */
  readonly dated: readonly DatedPrices[];
}

export interface ModelDraft {
  readonly entry: ModelEntry;
  readonly vendor: string;
  /** Empty where no tokenizer is public. */
  readonly tokenizer: string;
  readonly endpoints: readonly EndpointDraft[];
}

export interface CatalogDraft {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly models: readonly ModelDraft[];
}

/** @returns the draft, or every problem found, each with file, line and pointer. */
export async function buildDraft(
  files: CatalogFiles,
  environment: Environment,
): Promise<Checked<CatalogDraft>> {
  const problems: Problem[] = [];
  const providers = await buildProviders(files.providers, environment, problems);
  const shared = { providers, problems, seen: new Map<string, string>(), names: namesIn(files) };
  const models = files.vendors.flatMap((document) => new ModelsBuild(document, shared).models());
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, value: { providers, models } };
}

/** `ep_<provider>_<upstream_model>_<region>`; inside a part only letters, digits, dots and dashes. */
const endpointId = (provider: string, upstreamModel: string, region: string): string =>
  `ep_${idPart(provider)}_${idPart(upstreamModel)}_${idPart(region)}`;

const idPart = (text: string): string => text.replaceAll(/[^A-Za-z0-9.-]/g, "-");

/** What all files of models share. */
interface Shared {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly problems: Problem[];
  /** Where each id was first seen, as `file:line`. */
  readonly seen: Map<string, string>;
  /** Model ids by these and by their bare names. */
  readonly names: ReadonlyMap<string, string>;
}

const namesIn = ({ vendors }: CatalogFiles): ReadonlyMap<string, string> =>
  new Map(
    vendors.flatMap(({ value }) =>
      value.models.flatMap(({ id }) => [
        [id, id],
        [id.slice(id.indexOf("/") + 1), id],
      ]),
    ),
  );

/** The models of one file. */
class ModelsBuild {
  readonly #document: ConfigDocument<ModelsFile>;
  readonly #shared: Shared;

  constructor(document: ConfigDocument<ModelsFile>, shared: Shared) {
    this.#document = document;
    this.#shared = shared;
  }

  models(): ModelDraft[] {
    const { vendor, models, tokenizer = "" } = this.#document.value;
    return models.map((entry, m) => {
      const path = ["models", m];
      this.#once([...path, "id"], entry.id, "model");
      if (!entry.id.startsWith(`${vendor}/`)) {
        this.#refuse([...path, "id"], `this file's vendor is ${vendor}: expected ${vendor}/<model>`);
      }
      this.#checkAliases(path, entry);
      this.#checkTask(path, entry);
      const endpoints = entry.endpoints.flatMap((endpoint, e) => {
        const draft = this.#endpoint([...path, "endpoints", e], entry, endpoint);
        return draft === undefined ? [] : [draft];
      });
      return { entry, vendor, tokenizer: entry.tokenizer ?? tokenizer, endpoints };
    });
  }

  /** An alias must leave no doubt: it is no model's name, and one model's alias. */
  #checkAliases(path: readonly PropertyKey[], { aliases }: ModelEntry): void {
    aliases.forEach((alias, a) => {
      const at = [...path, "aliases", a];
      const [owner] = namesOfAlias(this.#document.value.vendor, alias).flatMap(
        (name) => this.#shared.names.get(name) ?? [],
      );
      if (owner !== undefined) this.#refuse(at, `${alias} is the name of ${owner} already`);
      else for (const name of namesOfAlias(this.#document.value.vendor, alias)) this.#once(at, name, "alias");
    });
  }

  /** Checks the fields that the model's task requires. */
  #checkTask(path: readonly PropertyKey[], model: ModelEntry): void {
    if ((model.max_output ?? 0) > model.context) {
      this.#refuse([...path, "max_output"], `exceeds the context of ${model.context}`);
    }
    if (model.task !== "generate") return;
    const needed = { max_output: model.max_output, capabilities: model.capabilities };
    for (const [key, value] of Object.entries(needed)) {
      if (value === undefined) this.#refuse(path, `a model that generates needs ${key}`);
    }
    if (model.modalities.out.length === 0) {
      this.#refuse([...path, "modalities", "out"], "a model that generates needs one at least");
    }
  }

  #endpoint(
    path: readonly PropertyKey[],
    model: ModelEntry,
    entry: EndpointEntry,
  ): EndpointDraft | undefined {
    const provider = this.#shared.providers.get(entry.provider);
    if (provider === undefined) {
      const known = nearest(entry.provider, [...this.#shared.providers.keys()]);
      this.#refuse([...path, "provider"], `no provider "${entry.provider}"${didYouMean(known)}`);
      return undefined;
    }
    const region = this.#region(path, provider, entry.region);
    if (region === undefined) return undefined;
    const id = endpointId(provider.id, entry.upstream_model, region);
    this.#once([...path, "upstream_model"], id, "endpoint");
    const contextLength = entry.context ?? model.context;
    if (contextLength > model.context) {
      this.#refuse([...path, "context"], `exceeds the model's context of ${model.context}`);
    }
    const maxOutput =
      model.task === "generate" ? (entry.max_output ?? Math.min(model.max_output ?? 0, contextLength)) : 0;
    if (maxOutput > contextLength) {
      this.#refuse([...path, "max_output"], `exceeds the context of ${contextLength}`);
    }
    this.#checkPrice([...path, "price"], model.task, entry.price);
    entry.scheduled.forEach(({ price }, at) => {
      this.#checkPrice([...path, "scheduled", at, "price"], model.task, price);
    });
    const dialects = this.#dialects(path, provider, model.task, entry.dialects);
    const beyond = entry.modalities_in?.find((m) => !model.modalities.in.includes(m));
    if (beyond !== undefined) {
      this.#refuse([...path, "modalities_in"], `${beyond} is not among the model's modalities`);
    }
    const markupBps = entry.markup_bps ?? model.markup_bps;
    const modalitiesIn = entry.modalities_in ?? model.modalities.in;
    const toolPrices = model.task === "generate" ? provider.serverTools : {};
    const listPrices = listPriceTable(entry.price, toolPrices);
    return {
      endpoint: {
        id,
        model: model.id,
        provider,
        dialects,
        task: model.task,
        upstreamModel: entry.upstream_model,
        region,
        status: entry.status,
        quantization: entry.quantization,
        contextLength,
        maxOutput,
        imageTokens: entry.image_tokens ?? model.image_tokens,
        capabilities: capabilitiesOf(entry.capabilities ?? model.capabilities ?? [], modalitiesIn),
        modalitiesIn: Object.freeze([...modalitiesIn]),
        markupBps,
        dataPolicy: entry.data_policy === undefined ? provider.dataPolicy : dataPolicyOf(entry.data_policy),
      },
      prices: markedUp(listPrices, markupBps),
      listPrices,
      dated: entry.scheduled.map(({ from, price }) => {
        const list = listPriceTable(price, toolPrices);
        return { fromMs: Date.parse(from), prices: markedUp(list, markupBps), listPrices: list };
      }),
    };
  }

  #checkPrice(path: readonly PropertyKey[], task: Task, price: PriceEntry): void {
    for (const { key, message } of priceFaults(task, price)) {
      this.#refuse(key === undefined ? path : [...path, ...key], message);
    }
  }

  /** The dialects of the endpoint, or of its provider, that serve the model's task. */
  #dialects(
    path: readonly PropertyKey[],
    provider: Provider,
    task: Task,
    own: readonly Dialect[] | undefined,
  ): readonly Dialect[] {
    const stranger = own?.find((dialect) => !TASKS_OF[dialect].includes(task));
    if (stranger !== undefined) {
      this.#refuse([...path, "dialects"], `nothing is asked to ${task} in ${stranger}`);
    }
    const dialects = (own ?? provider.dialects).filter((dialect) => TASKS_OF[dialect].includes(task));
    if (dialects.length === 0 && stranger === undefined) {
      const message = `${provider.id} speaks ${provider.dialects.join(", ")}: nothing is asked to ${task} in these`;
      this.#refuse([...path, "provider"], message);
    }
    return Object.freeze(dialects);
  }

  #region(path: readonly PropertyKey[], provider: Provider, region: string | undefined): string | undefined {
    const [first, ...more] = provider.regions;
    if (region === undefined && more.length === 0) return first;
    if (region !== undefined && provider.regions.includes(region)) return region;
    const message =
      region === undefined
        ? `needs a region: ${provider.id} has ${provider.regions.join(", ")}`
        : `${provider.id} has no region "${region}"${didYouMean(nearest(region, provider.regions))}`;
    this.#refuse(region === undefined ? path : [...path, "region"], message);
    return undefined;
  }

  #once(path: readonly PropertyKey[], id: string, what: string): void {
    const before = this.#shared.seen.get(id);
    if (before !== undefined) {
      this.#refuse(path, `${what} ${id} stands already at ${before}`);
      return;
    }
    this.#shared.seen.set(id, `${this.#document.file}:${this.#document.at(path).line}`);
  }

  #refuse(path: readonly PropertyKey[], message: string): void {
    const at = this.#document.at(path);
    this.#shared.problems.push({ file: this.#document.file, ...at, pointer: pointerTo(path), message });
  }
}

export const TASKS_OF: Readonly<Record<Dialect, readonly Task[]>> = {
  chat: ["generate"],
  responses: ["generate"],
  messages: ["generate"],
  gemini: ["generate"],
  converse: ["generate"],
  completions: ["generate"],
  openai_embeddings: ["embed"],
  gemini_embeddings: ["embed"],
  cohere: ["embed", "rerank"],
  jina: ["embed", "rerank"],
  voyage: ["embed", "rerank"],
};

const capabilitiesOf = (listed: readonly string[], modalitiesIn: readonly Modality[]): Capabilities =>
  Object.freeze({
    tools: listed.includes("tools"),
    parallelTools: listed.includes("parallel_tools"),
    jsonSchema: listed.includes("json_schema"),
    vision: modalitiesIn.includes("image"),
    audio: modalitiesIn.includes("audio"),
    reasoning: listed.includes("reasoning"),
    cache: listed.includes("cache"),
  });
