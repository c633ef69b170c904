/**
 * What is typed and said in the playground. A draft stays while one looks at other pages, and is gone with the tab; models and project are
 * in the address.
 */
import { computed, signal } from "@preact/signals";
import type { Answer as ApiAnswer } from "../../api/call.ts";
import { filter, query, setFilters } from "../../app/router.ts";
import { Lane } from "./lane.ts";
import { type Message, openCalls, textPart } from "./message.ts";
import { type Picture, picturePart } from "./picture.ts";
import { bodyOf, type Loaded } from "./request.ts";
import { NO_SETTINGS, readSettings, type Settings } from "./settings.ts";

export type Model = ApiAnswer<"listModels">["data"][number];
export type Project = ApiAnswer<"listProjects">["data"][number];

/** Those that generate. */
export const models = signal<readonly Model[]>([]);
/** Those that are active. */
export const projects = signal<readonly Project[]>([]);

export const settings = signal<Settings>(NO_SETTINGS);
export const text = signal("");
export const pictures = signal<readonly Picture[]>([]);

const first = new Lane();
const second = new Lane();

const wantedModel = filter("model");
const secondModel = filter("with");
const wantedProject = filter("project");

export const isCompared = computed(() => secondModel.value !== "");
export const lanes = computed<readonly Lane[]>(() => (isCompared.value ? [first, second] : [first]));

/** A model to begin with: models for chats have tools, those that only continue texts have none. @param not another than this one */
export function usualModel(not: string): string {
  const others = models.value.filter(({ id }) => id !== not);
  return (others.find(({ capabilities }) => capabilities.tools) ?? others[0])?.id ?? not;
}

/** Ids of the models of the lanes, in their order; empty while none is known. */
export const modelIds = computed<readonly string[]>(() => {
  const chosen = wantedModel.value || usualModel("");
  return isCompared.value ? [chosen, secondModel.value] : [chosen];
});

/** The project whose key pays; empty while none is known. */
export const projectId = computed(() => {
  const known = projects.value;
  return (known.find(({ id }) => id === wantedProject.value) ?? known[0])?.id ?? "";
});

const chosenModels = computed(() =>
  modelIds.value.map((id) => models.value.find((model) => model.id === id || model.aliases?.includes(id))),
);
export const takesPictures = computed(() =>
  chosenModels.value.every((model) => model?.capabilities.vision === true),
);
export const canReason = computed(() =>
  chosenModels.value.some((model) => model?.capabilities.reasoning === true),
);

export const read = computed(() => readSettings(settings.value));
export const isRunning = computed(() => lanes.value.some(({ growing }) => growing.value !== undefined));
const isEmptyMessage = computed(() => text.value.trim() === "" && pictures.value.length === 0);

/** Why nothing can be sent now; undefined where it can. */
export const obstacle = computed<string | undefined>(() => {
  if (projectId.value === "") return "A project is needed: its budget pays.";
  if (modelIds.value.includes("")) return "Choose a model.";
  if (Object.keys(read.value.faults).length > 0) return "Mend the settings that are marked.";
  if (pictures.value.length > 0 && !takesPictures.value)
    return "The chosen model takes no pictures: remove them, or choose another.";
  if (lanes.value.some((lane) => openCalls(lane.messages).length > 0))
    return "The model waits for the results of its tools.";
  return undefined;
});
export const maySend = computed(
  () => obstacle.value === undefined && !isRunning.value && !isEmptyMessage.value,
);

/** What is typed, as a message; undefined where there is nothing. */
const typedMessage = (): Message | undefined =>
  isEmptyMessage.value
    ? undefined
    : {
        role: "user",
        content: [
          ...pictures.value.map(picturePart),
          ...(text.value.trim() === "" ? [] : [textPart(text.value)]),
        ],
      };

/** What would be sent in a lane, with what is typed; undefined where there is nothing to answer. */
export function nextBody(at: number) {
  const lane = lanes.value[at];
  const model = modelIds.value[at] ?? "";
  if (lane === undefined || model === "") return undefined;
  const typed = typedMessage();
  const messages = typed === undefined ? lane.messages : [...lane.messages, typed];
  return messages.at(-1)?.role === "user" ? bodyOf(model, settings.value, messages) : undefined;
}

export function send(): void {
  const message = typedMessage();
  if (message === undefined || !maySend.value) return;
  for (const lane of lanes.value) lane.add(message);
  text.value = "";
  pictures.value = [];
  for (const lane of lanes.value) askAgain(lane);
}

/** Asks a lane for an answer to what was said so far. */
export function askAgain(lane: Lane): void {
  const at = lanes.value.indexOf(lane);
  const model = modelIds.value[at] ?? "";
  if (model !== "" && projectId.value !== "")
    void lane.ask(bodyOf(model, settings.value, lane.messages), projectId.value);
}

export function stopAll(): void {
  for (const lane of lanes.value) lane.stop();
}

/** The second lane begins with what was said so far in the first. @param model empty: no comparison any more */
export function compareWith(model: string): void {
  const goesOn = isCompared.value && model !== "";
  if (!goesOn) second.set(model === "" ? [] : first.messages);
  choose({ with: model });
}

export function startAnew(): void {
  first.set([]);
  second.set([]);
  settings.value = NO_SETTINGS;
  text.value = "";
  pictures.value = [];
}

/** A recorded request in the place of what is here; its last message is sent again, as it is or changed. */
export function load({ settings: wanted, messages }: Loaded): void {
  startAnew();
  settings.value = wanted;
  first.set(messages);
}

type Choices = Partial<Readonly<Record<"model" | "with" | "project" | "from", string | undefined>>>;

/** What the address chose when it was last looked at: the page may be opened again without any of it. */
let chosen: Choices = {};

/** Chooses in the address. Undefined or empty takes a choice out. */
export function choose(changes: Choices): void {
  setFilters(changes);
  chosen = { model: wantedModel.value, with: secondModel.value, project: wantedProject.value };
}

/** Once the page is opened: what the address chooses is kept, and where it chooses nothing, what was chosen before counts. */
export function openChoices(): void {
  const isChosen = ["model", "with", "project", "from"].some((name) => query.value.has(name));
  choose(isChosen ? {} : chosen);
}

let ofOrg = "";

/** A draft of another org is not shown. @param org id */
export function openFor(org: string): void {
  if (ofOrg === org) return;
  ofOrg = org;
  chosen = {};
  models.value = [];
  projects.value = [];
  startAnew();
}
