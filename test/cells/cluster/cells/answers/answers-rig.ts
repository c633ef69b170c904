/** Cells with kept answers and stored responses, at a real Redis; without a gateway around them. */

import { systemTimers } from "../../../../../src/base/clock.ts";
import { SharedKept, type SharedKeptOptions } from "../../../../../src/cluster/cells/answers/shared-kept.ts";
import type { Call, IdempotencyLock } from "../../../../../src/inference/exchange/call.ts";
import { Conversations } from "../../../../../src/inference/exchange/kept/conversations/conversations.ts";
import { type Claim, IdempotentAnswers } from "../../../../../src/inference/exchange/kept/idempotency.ts";
import type { OwnRows } from "../../../../../src/inference/exchange/kept/kept-rows.ts";
import {
  type ResponseOwner,
  StoredResponses,
} from "../../../../../src/inference/exchange/kept/stored-responses.ts";
import type { Bench, TestCell, TestCellOptions } from "../fixtures.ts";

export interface KeptCell {
  readonly cell: TestCell;
  readonly kept: SharedKept;
  readonly answers: IdempotentAnswers;
  readonly responses: StoredResponses;
  readonly conversations: Conversations;
  claim(key: string, body?: string, org?: string): Promise<Claim>;
  /** Stores the answer of the call that has the key, and tells the others. */
  answer(claim: Claim, text: string): Promise<void>;
  store(owner: ResponseOwner, id: string, text: string): Promise<void>;
  /** Tells the others what former lives left: as of a start, unless it `sharesLater`. */
  share(dropStream?: (responseId: string) => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

export type Bounds = Partial<Pick<SharedKeptOptions, "mostBytes" | "mostAnswers" | "timers">> & {
  readonly mostConversations?: number;
  /** It stands before it tells the others what its former lives left. */
  readonly sharesLater?: boolean;
};

export async function keptCell(
  bench: Bench,
  name: string,
  bounds: Bounds & TestCellOptions = {},
): Promise<KeptCell> {
  const cell = await bench.cell(name, { ...bounds, hasParts: true });
  const { clock } = cell;
  const onFailure = (error: unknown) => void bench.log.push(`${name}: ${String(error)}`);
  const kept = new SharedKept({ cell, timers: systemTimers, onFailure, ...bounds });
  const uncounted = { kept: { count() {} }, orgOf: () => undefined };
  const keeping = { store: cell.store, clock, maxBytes: 1024 * 1024, onFailure, ...uncounted };
  const answers = new IdempotentAnswers({ ...keeping, shared: kept.answers });
  const responses = new StoredResponses({ ...keeping, shared: kept.responses });
  const conversations = new Conversations({
    ...keeping,
    timers: systemTimers,
    most: bounds.mostConversations ?? 1000,
    shared: kept.conversations,
  });
  const own: OwnRows = {
    answer: (id) => answers.get(id),
    response: (owner, id) => responses.own(owner, id),
    eraseAnswers: (orgId, most) => answers.eraseOwn(orgId, most),
    removeResponse: (owner, id) => responses.removeOwn(owner, id),
    eraseResponses: (owner, most) => responses.eraseOwn(owner, most) || conversations.eraseOwn(owner, most),
    conversation: (owner, id) => conversations.own(owner, id),
    removeConversation: (owner, id) => conversations.removeOwn(owner, id),
    supersede: (owner, id, version) => conversations.supersede(owner, id, version),
  };
  const share: KeptCell["share"] = async (dropStream = async () => {}) => {
    await responses.endRuns();
    await responses.endUntold(dropStream);
    kept.start(own);
  };
  if (bounds.sharesLater !== true) await share();
  await cell.opened();
  return {
    cell,
    kept,
    answers,
    responses,
    conversations,
    claim: async (key, body = "{}", org = "org") => await answers.claim(callOf(key, body, org)),
    async answer(claim, text) {
      const lock = lockOf(claim);
      await cell.store.act(() =>
        lock.keep({ requestId: `req_${text}`, status: 200, isStream: false }, Buffer.from(text), undefined),
      );
      await lock.release();
    },
    async store(owner, id, text) {
      const key = { ...owner, dataPolicy: { retentionDays: 7 } } as Parameters<StoredResponses["put"]>[0];
      const [endpointId, provider, keyId] = ["e", "p", "k"];
      const stored = { response: text, items: text, itemIds: [`item_${id}`], endpointId, provider, keyId };
      await cell.store.act(() => responses.put(key, id, stored));
      await responses.shared(key, id);
    },
    share,
    async stop() {
      answers.close();
      responses.close();
      conversations.close();
      await kept.stop();
      await cell.stop();
    },
  };
}

export function lockOf(claim: Claim): IdempotencyLock {
  if (claim.kind !== "first") throw new Error(`the key was not free: ${claim.kind}`);
  return claim.lock;
}

/** `first`, the answer's text, or the code of the refusal. */
export const said = (claim: Claim): string => {
  if (claim.kind === "first") return "first";
  return claim.kind === "replay" ? Buffer.from(claim.answer.body).toString() : claim.error.kind;
};

const callOf = (idempotencyKey: string, body: string, orgId: string): Call =>
  ({
    key: { orgId, projectId: "project", environment: "test" },
    requestId: `call of ${idempotencyKey}`,
    incoming: { body: Buffer.from(body), format: { name: "chat" }, idempotencyKey, reply: {} },
  }) as unknown as Call;
