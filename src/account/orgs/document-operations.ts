/** `GET /v1/documents/dpa`: open to anyone; filled with the org's legal name where a credential says which org asks. */
import { z } from "zod";
import { type Clock, isoTime } from "../../base/clock.ts";
import { raw } from "../../base/operation/answer.ts";
import { operation } from "../../base/operation/operation.ts";
import type { AccountTables } from "../tables.ts";
import { type DpaSupplier, dpaPage, type Subprocessor } from "./dpa.ts";

export interface DocumentDeps {
  readonly accounts: Pick<AccountTables, "org">;
  readonly clock: Clock;
  readonly supplier: DpaSupplier;
  /** Port: the providers that calls may go to. */
  readonly subprocessors: () => readonly Subprocessor[];
}

export const documentOperations = (deps: DocumentDeps) => ({
  getDpa: operation({
    summary: "The data processing agreement as HTML; as a JSON string where `accept` asks for JSON",
    method: "GET",
    path: "/v1/documents/dpa",
    access: "anyone",
    group: "Organisations",
    output: z.string(),
    otherTypes: ["text/html"],
    run(_input, { orgId }, head) {
      const page = dpaPage({
        supplier: deps.supplier,
        customer: deps.accounts.org(orgId)?.legalName ?? "",
        subprocessors: deps.subprocessors(),
        date: isoTime(deps.clock.now()).slice(0, 10),
      });
      const asksJson = /\bapplication\/json\b/i.test(head.header("accept").slice(0, 1000));
      return asksJson ? page : raw("text/html; charset=utf-8", page);
    },
  }),
});
