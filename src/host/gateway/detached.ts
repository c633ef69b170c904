/** Opens the calls that outlive their clients; at a cell, those of the others too. */
import type { Logger } from "pino";
import type { Outbox } from "../../analytics/outbox/outbox.ts";
import { risingMicros } from "../../base/clock.ts";
import type { ToldCalls } from "../../cluster/cells/answers/told-calls.ts";
import type { Cell } from "../../cluster/cells/cell.ts";
import type { CellStanding } from "../../cluster/cells/membership/standings.ts";
import type { LoggedCall } from "../../inference/exchange/detached/call-log.ts";
import type { DetachedCalls } from "../../inference/exchange/detached/detached-calls.ts";
import { answerOthers } from "../../inference/exchange/detached/elsewhere/answering.ts";
import { CallsOfOthers } from "../../inference/exchange/detached/elsewhere/calls-of-others.ts";
import type { Fate, OtherCells } from "../../inference/exchange/detached/elsewhere/messages.ts";
import { openDetached } from "../../inference/exchange/detached/open.ts";
import type { Kept } from "../../inference/exchange/kept/open.ts";
import type { StoredResponses } from "../../inference/exchange/kept/stored-responses.ts";
import { FORMATS } from "../../wire/formats.ts";
import type { Config } from "../settings/config.ts";
import type { Ground } from "./ground.ts";
import type { OpenMoney } from "./money.ts";
import type { People } from "./people.ts";

/** A stop waits so long for Redis to hear of it. */
const STOP_MS = 500;

interface DetachedNeeds extends Pick<OpenMoney, "purse" | "budgets">, Pick<Kept, "answers" | "responses"> {
  readonly outbox: Outbox;
  readonly accounts: People["account"]["accounts"];
}

/** Before any call is admitted and other cells are told what this one answered, and once charges can be made. */
export async function openDetachedRoom(
  { settings: { limits } }: Config,
  { store, clock, cell, installation, log }: Ground,
  { purse, budgets, outbox, accounts, answers, responses }: DetachedNeeds,
): Promise<DetachedCalls> {
  const told = cell && (await import("../../cluster/cells/answers/told-calls.ts")).openToldCalls(cell);
  const cells = cell && told && othersOf(cell, told, responses);
  const calls = await openDetached({
    store,
    clock,
    outbox,
    answers,
    responses,
    failedResponse: (call) => responses.failedHere(call, responseIdOf(call)),
    masterKeys: installation.masterKeys,
    bounds: { callBytes: limits.max_detached_call_bytes, orgBytes: limits.max_detached_org_bytes },
    settledAtUs: risingMicros(clock),
    life: purse.life,
    isClosed: (orgId) => accounts.org(orgId)?.status === "closed",
    holding: { purse, budgets },
    onFault: notStored(log),
    elsewhere: cells && new CallsOfOthers({ ...cells, clock }),
  });
  if (cells !== undefined) answerOthers({ cells, clock, find: (id) => calls.find(id) });
  told?.start();
  // At every cell: an erasure is a job of one.
  accounts.watch({
    org(orgId) {
      if (accounts.org(orgId)?.status === "closed") void calls.erase(orgId);
    },
  });
  return calls;
}

/** The id under which its answer is stored, if it is in the background. */
const responseIdOf = ({ id, format }: LoggedCall): string => FORMATS[format].idPrefix + id;

/** Removes what a background response's stream was. */
export const dropStream =
  (calls: DetachedCalls) =>
  (responseId: string): Promise<void> =>
    calls.forget(responseId.slice(FORMATS.responses.idPrefix.length));

const othersOf = (
  { questions, standings, toldCall }: Cell,
  told: ToldCalls,
  responses: StoredResponses,
): OtherCells => ({
  ask: (topic, content, asking) => questions.ask(topic, content, asking),
  answers: (topic, answer) => questions.answers(topic, answer),
  fateOf: async (name, life) => fateOf(await standings.of(name), life),
  tell: (call) => told.tell(call),
  takeBack: (call) => told.takeBack(call),
  failedResponse: (call) => responses.failed(call, responseIdOf(call)),
  stopTelling: () => told.stop(STOP_MS),
  async toldOf(id) {
    const found = await toldCall(id);
    return found && { ...found, content: JSON.parse(found.text) };
  },
  isRetired: async (cell) => (await standings.of(cell))?.status === "retired",
  hasToldAll: async (cell) => (await standings.of(cell))?.hasToldCalls === true,
});

function fateOf(cell: CellStanding | undefined, life: number): Fate {
  if (cell === undefined) return { kind: "unknown", mayReturn: false };
  if (life <= cell.retiredLife) return { kind: "retired", mayReturn: false };
  const hasLeft = cell.status === "left";
  if (life >= cell.life) return { kind: "lives", mayReturn: hasLeft };
  // Calls of earlier lives that it has are among those that the newest told of.
  return { kind: "over", mayReturn: hasLeft && !cell.hasToldCalls };
}

const notStored =
  (log: Logger) =>
  (err: unknown, requestId: string): void =>
    log.error({ err, requestId }, "what a detached call says could not be stored; it is tried again");
