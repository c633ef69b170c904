/** Settled calls between cells: what other cells pass on to those whose clients have a tail. */
import { z } from "zod";
import type { OrgFeed } from "./org-feed.ts";
import { OrgRelay, type OrgRelayDeps, type RowCodec } from "./org-relay.ts";
import { TailRow } from "./tail-feed.ts";

const packedRow = z.object({
  environment: z.string(),
  settledAtUs: z.number(),
  item: z.record(z.string(), z.unknown()),
});

const TAIL: RowCodec<TailRow> = {
  topic: "tail",
  pack: ({ environment, settledAtUs, item }) => ({ environment, settledAtUs, item }),
  unpack(orgId, packed) {
    const read = packedRow.safeParse(packed);
    if (!read.success) return undefined;
    const { environment, settledAtUs, item } = read.data;
    return new TailRow({
      orgId,
      settledAtUs,
      item: item as TailRow["item"],
      environment: environment as TailRow["environment"],
    });
  },
};

export class TailRelay extends OrgRelay<TailRow> {
  constructor(deps: OrgRelayDeps, receiver: Pick<OrgFeed<TailRow>, "receive" | "miss">) {
    super(deps, TAIL, receiver);
  }
}
