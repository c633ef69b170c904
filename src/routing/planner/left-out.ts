/**
 * Which requirements leave a call without an endpoint, and who set them: for the error of such a call and for dry runs. Each is held
 * against each endpoint alone, by the check that calls go by (eligibility.ts), so that one that leaves out all is named although
 * another was found first. No call that is served comes here.
 */
import type { Requirements, RouteOptions } from "../../base/route.ts";
import { DEFAULT_DECISION, type Decision } from "./decision.ts";
import { exclusionOf, type Judged, type Need, needWords, type RouteFacts } from "./eligibility.ts";

/** A call as it was planned. */
export interface PlannedFor {
  readonly facts: RouteFacts;
  /** What policy and request say together. */
  readonly decision: Decision;
  /** The request's own part of it. */
  readonly route: RouteOptions;
}

/** A requirement that leaves out some of a model's endpoints. */
export interface LeavesOut {
  /** As it is written where it is set: `data_policy.regions`, `require.zdr`, `only`, … */
  readonly filter: string;
  readonly setBy: keyof typeof SET_BY;
  /** Its value in short; empty where the name says all. */
  readonly value: string;
  /** How many endpoints it leaves out, whatever else does. */
  readonly endpoints: number;
}

/** What leaves out some of the endpoints that are not switched off, and how many these are. */
export interface LeftOut {
  readonly candidates: number;
  /** Those that leave out most come first. */
  readonly by: readonly LeavesOut[];
}

interface Requirement extends Omit<LeavesOut, "endpoints"> {
  readonly facts?: Partial<RouteFacts> | undefined;
  readonly decision?: Partial<Decision> | undefined;
}

export function leftOut(endpoints: readonly Judged[], call: PlannedFor): LeftOut {
  const open = endpoints.filter((endpoint) => excludes(endpoint, {}) === false);
  const by = requirementsOf(call)
    .map(({ facts, decision, ...what }) => ({
      ...what,
      endpoints: open.filter((endpoint) => excludes(endpoint, { facts, decision })).length,
    }))
    .filter((found) => found.endpoints > 0)
    .toSorted((a, b) => b.endpoints - a.endpoints);
  return { candidates: open.length, by };
}

/** One line for whoever made the call, or wrote what leaves it out; empty where no requirement leaves out anything. */
export function leftOutText({ candidates, by }: LeftOut, model: string): string {
  if (by.length === 0) return "";
  const all = by.filter(({ endpoints }) => endpoints === candidates);
  const what = candidates === 1 ? `the one endpoint of ${model}` : `all ${candidates} endpoints of ${model}`;
  const [first, ...others] = all.map(nameOf);
  if (first !== undefined)
    return `${first} excludes ${what}${others.map((other) => `; so does ${other}`).join("")}.`;
  const parts = by.map((one, at) => {
    const where = at === 0 ? ` of the ${candidates} endpoints of ${model}` : "";
    return `${nameOf(one)} excludes ${one.endpoints}${where}`;
  });
  return `${parts.join(", ")}.`;
}

const SET_BY = {
  organisation: "of the organisation",
  policy: "of the routing policy",
  request: "of the request",
  policy_and_request: "of the routing policy and the request together",
  key: "of the key",
} as const;

const nameOf = ({ filter, value, setBy }: LeavesOut): string =>
  `${filter}${value === "" ? "" : ` ${value}`} ${SET_BY[setBy]}`;

/** Whether the endpoint is left out by this alone; by nothing: whether it is switched off. */
const excludes = (endpoint: Judged, { facts, decision }: Pick<Requirement, "facts" | "decision">): boolean =>
  exclusionOf(endpoint, { ...NO_FACTS, ...facts }, { ...DEFAULT_DECISION, ...decision }) !== undefined;

/** A call that any endpoint may serve. */
export const NO_FACTS: RouteFacts = {
  environment: "live",
  stream: false,
  hasTools: false,
  parallelTools: false,
  hasImages: false,
  hasAudio: false,
  hasSchema: false,
  reasoning: false,
  promptTokens: 0,
  maxTokens: undefined,
  affinityKey: "",
  unit: "",
  isCanaryRed: false,
  orgPolicy: { zdr: false, noTrain: false, regions: [] },
};

const requirementsOf = (call: PlannedFor): readonly Requirement[] => [
  ...ofOrganisation(call.facts),
  ...ofRequire(call),
  ...ofNames(call),
  ...ofCall(call.facts),
];

function ofOrganisation({ orgPolicy: { zdr, noTrain, regions } }: RouteFacts): Requirement[] {
  const one = (name: string, value: string, asked: Partial<RouteFacts["orgPolicy"]>): Requirement => ({
    filter: `data_policy.${name}`,
    setBy: "organisation",
    value,
    facts: { orgPolicy: { ...NO_FACTS.orgPolicy, ...asked } },
  });
  return [
    ...(regions.length === 0 ? [] : [one("regions", listed(regions), { regions })]),
    ...(zdr ? [one("zdr", "", { zdr })] : []),
    ...(noTrain ? [one("no_train", "", { noTrain })] : []),
  ];
}

function ofRequire({ decision: { require }, route }: PlannedFor): Requirement[] {
  const asked = route.require ?? {};
  const one = (key: keyof Requirements, value: string, setBy: LeavesOut["setBy"]): Requirement => ({
    filter: `require.${key}`,
    value,
    setBy,
    decision: { require: { [key]: require[key] } },
  });
  const bySwitch = (key: "zdr" | "no_train") =>
    require[key] === true ? [one(key, "", asked[key] === true ? "request" : "policy")] : [];
  const { regions, max_price: price } = require;
  return [
    ...(regions === undefined ? [] : [one("regions", listed(regions), setterOf(asked.regions, regions))]),
    ...bySwitch("zdr"),
    ...bySwitch("no_train"),
    ...(price?.input === undefined && price?.output === undefined
      ? []
      : [one("max_price", JSON.stringify(price), setterOf(asked.max_price, price))]),
  ];
}

/** Who set what holds, where the request asked for this. */
const setterOf = (asked: unknown, inForce: unknown): LeavesOut["setBy"] => {
  if (asked === undefined) return "policy";
  return JSON.stringify(asked) === JSON.stringify(inForce) ? "request" : "policy_and_request";
};

function ofNames({ decision: { only, ignore, order, fallbacks }, route }: PlannedFor): Requirement[] {
  const one = (key: "only" | "ignore" | "order", ids: readonly string[]): Requirement => ({
    filter: key === "order" ? "order without fallbacks," : key,
    value: listed(ids),
    setBy: route[key] === undefined ? "policy" : "request",
    decision: { [key]: ids, ...(key === "order" && { fallbacks: false }) },
  });
  return [
    ...(only === undefined ? [] : [one("only", only)]),
    ...(ignore === undefined ? [] : [one("ignore", ignore)]),
    ...(fallbacks || order === undefined || order.length === 0 ? [] : [one("order", order)]),
  ];
}

/** The fact that says of a call that it needs a capability. */
const FACT_OF: Readonly<Record<Need, keyof RouteFacts>> = {
  tools: "hasTools",
  parallelTools: "parallelTools",
  vision: "hasImages",
  audio: "hasAudio",
  jsonSchema: "hasSchema",
  reasoning: "reasoning",
};

/** What the call itself needs. */
function ofCall(facts: RouteFacts): Requirement[] {
  const { environment, promptTokens, longestTokens, maxTokens, lowersLimit = false } = facts;
  const needs = Object.entries(FACT_OF) as [Need, keyof RouteFacts][];
  return [
    ...(environment === "test"
      ? [{ filter: "environment", value: "test", setBy: "key", facts: { environment } } as const]
      : []),
    ...needs
      .filter(([, fact]) => facts[fact] === true)
      .map(
        ([need, fact]) =>
          ({ filter: needWords[need], value: "", setBy: "request", facts: { [fact]: true } }) as const,
      ),
    {
      filter: "the length",
      value: "",
      setBy: "request",
      facts: { promptTokens, maxTokens, lowersLimit, ...(longestTokens !== undefined && { longestTokens }) },
    },
  ];
}

/** Lists that people write are told in part: a message stays short. */
const MOST_LISTED = 4;
const MOST_LETTERS = 64;

function listed(words: readonly string[]): string {
  const shown = words.slice(0, MOST_LISTED).map((word) => JSON.stringify(word.slice(0, MOST_LETTERS)));
  const more = words.length - shown.length;
  return `[${shown.join(", ")}${more > 0 ? `, and ${more} more` : ""}]`;
}
