/**
 * What an import does to the model files: new files, and with `update` also changes of existing ones. Pure: the caller
 * reads and writes. An offer that would break a file's rules is left out with its reason.
 */
import { type Addition, type Edit, EditError, editDocument } from "../../base/document/edit.ts";
import { TASKS_OF } from "../models/build.ts";
import type { ModelsFile } from "../models/schema.ts";
import { modelIdOf, sameModel } from "./names.ts";
import { type ImportProvider, type LeftOut, NotTaken, type Offer, takeOr } from "./offer.ts";
import { endpointLines, modelLines, type NewEndpoint } from "./text.ts";
import { type OpenModel, updatesOf } from "./updates.ts";

export interface ModelFileText {
  /** Name in the folder: `openai.yaml`. */
  readonly name: string;
  readonly text: string;
  readonly value: ModelsFile;
}

export interface ChangedFile {
  readonly name: string;
  readonly isNew: boolean;
  readonly text: string;
  /** A line for each change: `+ acme/rocket at acme: …`. */
  readonly said: readonly string[];
}

export interface ImportPlan {
  readonly changed: readonly ChangedFile[];
  readonly leftOut: readonly LeftOut[];
  /** Changes of existing files that are made with `update` only. */
  readonly withUpdate: readonly string[];
}

export interface ImportOrder {
  readonly files: readonly ModelFileText[];
  readonly providers: ReadonlyMap<string, ImportProvider>;
  readonly offers: readonly Offer[];
  readonly update: boolean;
  /** Comment lines at the top of new files, without `#`. */
  readonly head: readonly string[];
}

/** What is to be done to one existing file. */
interface FileWork {
  readonly file: ModelFileText;
  readonly edits: Map<string, Edit>;
  readonly additions: Addition[];
  readonly said: string[];
}

interface Place {
  readonly work: FileWork;
  readonly model: OpenModel;
  readonly modelAt: number;
}

/** A model that no file has yet. */
interface NewModel {
  readonly id: string;
  readonly endpoints: NewEndpoint[];
}

export function planImport(order: ImportOrder): ImportPlan {
  const plan = new Plan(order);
  for (const offer of order.offers) plan.take(offer);
  return plan.result();
}

class Plan {
  readonly #order: ImportOrder;
  readonly #works: readonly FileWork[];
  readonly #models = new Map<string, Place>();
  /** By provider and upstream name. */
  readonly #endpoints = new Map<string, { readonly place: Place; readonly at: number }[]>();
  readonly #vendors = new Map<string, FileWork>();
  /** By normalised id. */
  readonly #newModels = new Map<string, NewModel>();
  readonly #leftOut: LeftOut[] = [];

  constructor(order: ImportOrder) {
    this.#order = order;
    this.#works = order.files.map((file) => ({ file, edits: new Map(), additions: [], said: [] }));
    for (const work of this.#works) {
      const value = structuredClone(work.file.value);
      if (!this.#vendors.has(value.vendor)) this.#vendors.set(value.vendor, work);
      value.models.forEach((model, modelAt) => {
        const place = { work, model, modelAt };
        this.#models.set(sameModel(model.id), place);
        model.endpoints.forEach(({ provider, upstream_model: upstream }, at) => {
          const key = `${provider}\n${upstream}`;
          this.#endpoints.set(key, [...(this.#endpoints.get(key) ?? []), { place, at }]);
        });
      });
    }
  }

  take(offer: Offer): void {
    takeOr(this.#leftOut, `${offer.provider}: ${offer.upstream}`, () => this.#take(offer));
  }

  #take(offer: Offer): void {
    if (!(offer.context >= 1 && offer.context <= 100_000_000 && Number.isInteger(offer.context)))
      throw new NotTaken("it has no context length");
    if (!Number.isInteger(offer.maxOutput)) throw new NotTaken("its longest answer is no number of tokens");
    if (offer.modalitiesIn.length === 0) throw new NotTaken("it takes nothing that can be sent");
    const known = this.#endpoints.get(`${offer.provider}\n${offer.upstream}`);
    const [only, ...others] = known ?? [];
    if (others.length > 0) throw new NotTaken("the files have it in several regions");
    if (only === undefined) this.#add(offer);
    else this.#update(only.place, only.at, offer);
  }

  #update({ work, model, modelAt }: Place, at: number, offer: Offer): void {
    if (model.task !== offer.task) throw new NotTaken("the files give it another task");
    if ((model.endpoints[at]?.scheduled.length ?? 0) > 0)
      throw new NotTaken("the file has dated prices for it: change them by hand");
    const { edits, said } = updatesOf(model, ["models", modelAt], at, offer);
    for (const edit of edits) work.edits.set(JSON.stringify(edit.path), edit);
    if (said.length > 0) work.said.push(`~ ${model.id} at ${offer.provider}: ${said.join(", ")}`);
  }

  #add(offer: Offer): void {
    const provider = this.#order.providers.get(offer.provider);
    if (provider === undefined) throw new NotTaken("providers.yaml does not name the provider");
    if (!provider.dialects.some((dialect) => TASKS_OF[dialect].includes(offer.task)))
      throw new NotTaken(`${provider.id} has no dialect to ${offer.task} in`);
    const id = modelIdOf(offer.provider, offer.upstream);
    if (id === undefined)
      throw new NotTaken("its name does not say who made it: add it by hand once, then --update keeps it");
    const endpoint = { offer, region: regionOf(provider) };
    const place = this.#models.get(sameModel(id));
    if (place === undefined) this.#addModel(id, endpoint);
    else this.#addEndpoint(place, endpoint);
  }

  #addModel(id: string, endpoint: NewEndpoint): void {
    const { offer } = endpoint;
    const model = this.#newModels.get(sameModel(id)) ?? { id, endpoints: [] };
    const [first] = model.endpoints;
    if (first !== undefined && first.offer.task !== offer.task) throw new NotTaken("it has two tasks");
    if (model.endpoints.some((e) => e.offer.provider === offer.provider)) throw new NotTaken(TWICE);
    model.endpoints.push(endpoint);
    this.#newModels.set(sameModel(id), model);
  }

  #addEndpoint({ work, model, modelAt }: Place, endpoint: NewEndpoint): void {
    const { offer } = endpoint;
    if (model.task !== offer.task) throw new NotTaken("the files give the model another task");
    if (model.endpoints.some((e) => e.provider === offer.provider)) throw new NotTaken(TWICE);
    if (!offer.modalitiesIn.some((m) => model.modalities.in.includes(m)))
      throw new NotTaken("it takes nothing that the model of the files takes");
    const inherited = {
      context: model.context,
      maxOutput: model.max_output ?? 0,
      modalitiesIn: model.modalities.in,
      capabilities: model.capabilities ?? [],
    };
    const lines = endpointLines(endpoint, inherited);
    work.additions.push({ path: ["models", modelAt, "endpoints"], lines, isApart: false });
    work.said.push(...saidOf(model.id, [endpoint]));
  }

  result(): ImportPlan {
    const fresh = Map.groupBy(this.#newModels.values(), ({ id }) => id.slice(0, id.indexOf("/")));
    const changed: ChangedFile[] = [];
    for (const [vendor, models] of fresh) {
      models.sort((a, b) => (a.id < b.id ? -1 : 1));
      const work = this.#vendors.get(vendor);
      if (work === undefined) changed.push(newFile(vendor, models, this.#order.head));
      for (const { id, endpoints } of work === undefined ? [] : models) {
        work?.additions.push({ path: ["models"], lines: modelLines(id, endpoints), isApart: true });
        work?.said.push(...saidOf(id, endpoints));
      }
    }
    const touched = this.#works.filter(({ said }) => said.length > 0);
    const withUpdate = this.#order.update ? [] : touched.flatMap(({ said }) => said);
    for (const work of this.#order.update ? touched : []) this.#edit(work, changed);
    return { changed, leftOut: this.#leftOut, withUpdate };
  }

  #edit({ file, edits, additions, said }: FileWork, changed: ChangedFile[]): void {
    try {
      const text = editDocument(file.text, [...edits.values()], additions);
      changed.push({ name: file.name, isNew: false, text, said });
    } catch (error) {
      if (!(error instanceof EditError)) throw error;
      this.#leftOut.push({ what: file.name, why: `it cannot be changed in place: ${error.message}` });
    }
  }
}

const TWICE = "the model has another endpoint at this provider";

function regionOf({ regions }: ImportProvider): string | undefined {
  if (regions.length === 1) return undefined;
  if (regions.includes("global")) return "global";
  throw new NotTaken(`it needs one of the regions ${regions.join(", ")}: add it by hand once`);
}

const saidOf = (id: string, endpoints: readonly NewEndpoint[]): string[] =>
  endpoints.map(({ offer: { provider, price } }) => {
    const prices = Object.entries(price).map(([key, usd]) => `${key} ${usd}`);
    return `+ ${id} at ${provider}: ${prices.join(", ")}`;
  });

function newFile(vendor: string, models: readonly NewModel[], head: readonly string[]): ChangedFile {
  const items = models.map(({ id, endpoints }) =>
    modelLines(id, endpoints)
      .map((line) => `  ${line}\n`)
      .join(""),
  );
  return {
    name: `${vendor}.yaml`,
    isNew: true,
    text: `${head.map((line) => `# ${line}\n`).join("")}\nvendor: ${vendor}\n\nmodels:\n${items.join("\n")}`,
    said: models.flatMap(({ id, endpoints }) => saidOf(id, endpoints)),
  };
}
