/** Answers that outlive their calls: for repeated Idempotency-Keys, and stored responses, within the orgs' quotas. */
import { type Clock, systemTimers } from "../../../base/clock.ts";
import { KeptBytes, type KeptBytesDeps } from "../../../credits/kept/kept-bytes.ts";
import type { CellsOfQuota } from "../../../credits/kept/kept-others.ts";
import type { Store } from "../../../store/store.ts";
import { Conversations } from "./conversations/conversations.ts";
import { IdempotentAnswers } from "./idempotency.ts";
import { InputItems } from "./input-items.ts";
import type { OwnRows, SharedAnswers, SharedConversations, SharedResponses } from "./kept-rows.ts";
import { StoredResponses } from "./stored-responses.ts";

/** What the cells of an installation tell each other of what they keep. */
export interface KeptSharing {
  readonly answers: SharedAnswers;
  readonly responses: SharedResponses;
  readonly conversations: SharedConversations;
  readonly quota: CellsOfQuota;
  /** Once the quotas are open. @returns what ends it */
  shareQuota(kept: KeptBytes): () => void;
  start(own: OwnRows): void;
  /** Resolves once what was erased is gone at what the cells share. */
  forgotten(): Promise<void>;
  stop(): Promise<void>;
}

export interface KeptPorts extends Pick<KeptBytesDeps, "retentionDays"> {
  readonly store: Store;
  readonly clock: Clock;
  /** Most conversations of a project and environment. */
  readonly maxConversations: number;
  /** An org's quota by its plan; 0: unlimited. */
  readonly quotaBytes: KeptBytesDeps["maxBytes"];
  /** Also of a deleted project. */
  readonly orgOf: (projectId: string) => string | undefined;
  /** Hears of changed orgs, committed. */
  readonly watchOrgs: (changed: (orgId: string) => void) => void;
  /** Undefined in a gateway alone. */
  readonly sharing: KeptSharing | undefined;
  /** What is old could not be forgotten: it is tried again. */
  readonly onFailure: (error: unknown) => void;
}

export interface Kept {
  readonly answers: IdempotentAnswers;
  readonly responses: StoredResponses;
  readonly inputItems: InputItems;
  readonly conversations: Conversations;
  /** The quotas that they count in. */
  readonly bytes: KeptBytes;
  /**
   * Ends what former processes left, tells other cells what this one answered, and then that nothing more comes of its former lives. Once,
   * when what those left is charged: a key whose answer is put later would be free for a moment.
   * @param dropStream as of `StoredResponses.endUntold` @throws WeirError of Redis, as a rejection
   */
  share(dropStream: (responseId: string) => Promise<void>): Promise<void>;
  /** Resolves once what was erased is gone here and at what the cells share. */
  forgotten(): Promise<void>;
  close(): Promise<void>;
}

/** @param maxAnswerBytes of one answer or response that is kept */
export async function openKept(maxAnswerBytes: number, ports: KeptPorts): Promise<Kept> {
  const { store, clock, sharing, retentionDays, onFailure } = ports;
  const kept = new KeptBytes({
    store,
    clock,
    onFailure,
    retentionDays,
    cells: sharing?.quota,
    maxBytes: ports.quotaBytes,
  });
  ports.watchOrgs((orgId) => kept.orgChanged(orgId));
  const keeping = { store, clock, maxBytes: maxAnswerBytes, onFailure, kept };
  const answers = new IdempotentAnswers({ ...keeping, shared: sharing?.answers });
  const responses = new StoredResponses({ ...keeping, shared: sharing?.responses, orgOf: ports.orgOf });
  const conversations = new Conversations({
    ...keeping,
    timers: systemTimers,
    most: ports.maxConversations,
    shared: sharing?.conversations,
  });
  await kept.countEarlier(function* () {
    yield* answers.kept();
    yield* responses.kept();
  });
  const endSharing = sharing?.shareQuota(kept);
  const ownRows: OwnRows = {
    answer: (id) => answers.get(id),
    response: (owner, id) => responses.own(owner, id),
    eraseAnswers: (orgId, most) => answers.eraseOwn(orgId, most),
    removeResponse: (owner, id) => responses.removeOwn(owner, id),
    eraseResponses: (owner, most) => responses.eraseOwn(owner, most) || conversations.eraseOwn(owner, most),
    conversation: (owner, id) => conversations.own(owner, id),
    removeConversation: (owner, id) => conversations.removeOwn(owner, id),
    supersede: (owner, id, version) => conversations.supersede(owner, id, version),
  };
  return {
    answers,
    responses,
    conversations,
    inputItems: new InputItems(responses),
    bytes: kept,
    async share(dropStream) {
      await responses.endRuns();
      await responses.endUntold(dropStream);
      sharing?.start(ownRows);
    },
    forgotten: async () => await sharing?.forgotten(),
    async close() {
      endSharing?.();
      answers.close();
      responses.close();
      conversations.close();
      await sharing?.stop();
    },
  };
}
