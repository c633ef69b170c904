/** What an org's export holds: each room's rows, as the API shows them, one file a kind. */
import { join } from "node:path";
import type { Logger } from "pino";
import type { ExportPart } from "../../account/exports/archive.ts";
import {
  type ExportJobDeps,
  exportRemover,
  exportWriter,
  nameOwnFiles,
  removeExport,
  removeUnfinished,
  removeWhatEnds,
  writeExport,
} from "../../account/exports/export-jobs.ts";
import { type OtherFolders, partOf } from "../../account/exports/other-folders.ts";
import { type KeyRow, keyWire } from "../../account/key.ts";
import { orgWire } from "../../account/org-wire.ts";
import { memberWire } from "../../account/person.ts";
import { projectWire } from "../../account/project.ts";
import { ticketWire } from "../../account/tickets/ticket.ts";
import { isoTime } from "../../base/clock.ts";
import { invoiceWire } from "../../billing/invoices/wire.ts";
import { appWire } from "../../catalog/apps/app.ts";
import { entryWire } from "../../credits/ledger/operations.ts";
import { pageEnd } from "../../credits/ledger/shown-list.ts";
import { eventWire } from "../../store/events/events.ts";
import { auditWire } from "../../store/events/operations.ts";
import type { Config } from "../settings/config.ts";
import type { Rooms } from "./rooms.ts";

export const exportFolder = ({ dataDir }: Pick<Config, "dataDir">): string => join(dataDir, "exports");

export const exportDeps = (rooms: Rooms, config: Config): ExportJobDeps => ({
  exports: rooms.exports,
  clock: rooms.clock,
  jobs: rooms.jobs,
  folder: exportFolder(config),
  cell: rooms.cell?.name,
  mostBytes: config.settings.limits.max_export_bytes,
  partsOf: (orgId, missing) => partsOf(rooms, orgId, missing),
});

/** Undefined in a gateway alone. */
export const otherFolders = ({ cell }: Pick<Rooms, "cell">): OtherFolders | undefined =>
  cell && { cell: cell.name, part: (of, name, offset) => cell.peers.part(of, name, offset) };

/** Before the jobs start. */
export async function handleExports(rooms: Rooms, config: Config, log: Logger): Promise<void> {
  const deps = exportDeps(rooms, config);
  await removeUnfinished(deps.folder);
  if (rooms.cell !== undefined) {
    rooms.cell.peers.serve((name, offset) => partOf(deps.folder, name, offset));
    await nameOwnFiles(deps);
    await removeWhatEnds(deps, (err) => log.error({ err }, "the file of an export could not be removed"));
  }
  rooms.jobs.handle(writeExport, exportWriter(deps));
  rooms.jobs.handle(removeExport, exportRemover(deps));
}

function partsOf(rooms: Rooms, orgId: string, missing: (sinceMs: number) => void): ExportPart[] {
  const { accounts, analytics, audit, book, budgets, clock, events, invoices, lastUsed, tickets } = rooms;
  const { people } = accounts;
  const spend = (projectId: string) =>
    budgets.spendOfProject({ projectId, timeZone: accounts.timeZoneOf(projectId) });
  return [
    { file: "org.jsonl", rows: () => [accounts.org(orgId)].flatMap((org) => (org ? [orgWire(org)] : [])) },
    {
      file: "members.jsonl",
      rows: () =>
        people.membersOf(orgId).flatMap((member) => {
          const user = people.user(member.userId);
          return user === undefined ? [] : [memberWire(member, user)];
        }),
    },
    {
      file: "projects.jsonl",
      async *rows() {
        const projects = accounts.projectsOf(orgId);
        yield* await Promise.all(projects.map(async (row) => projectWire(row, await spend(row.id))));
      },
    },
    {
      file: "keys.jsonl",
      rows: () =>
        paged(
          (after?: KeyRow) => accounts.keysByAge(orgId, after),
          (row) =>
            keyWire(
              row,
              { lastUsedAtMs: lastUsed.at(row.id), lineageId: accounts.lineageOf(row) },
              clock.now(),
            ),
        ),
    },
    { file: "apps.jsonl", rows: () => rooms.apps.tables.of(orgId).map(appWire) },
    { file: "policies.jsonl", rows: () => policiesOf(rooms, orgId) },
    {
      file: "tickets.jsonl",
      rows: () => paged((after?: { id: string }) => tickets.of(orgId, after?.id), ticketWire),
    },
    { file: "ledger.jsonl", rows: () => ledgerOf(book, orgId, missing) },
    {
      file: "invoices.jsonl",
      rows: () => paged((after?: { id: string }) => invoices.tables.of(orgId, after?.id), invoiceWire),
    },
    {
      file: "events.jsonl",
      rows: () => paged((after?: { id: string }) => events.of(orgId, after?.id), eventWire),
    },
    {
      file: "audit.jsonl",
      rows: () => paged((after?: { id: string }) => audit.of(orgId, after?.id), auditWire),
    },
    { file: "requests.jsonl", rows: () => analytics.recordsOf(orgId, missing) },
  ];
}

/** Rows read at once: between pages other work runs, and rows may be added and removed. */
const PAGE = 200;

/** @param read rows after one; lazily */
function* paged<R>(read: (after: R | undefined) => Iterable<R>, wire: (row: R) => object): Generator<object> {
  for (let last: R | undefined; ; ) {
    const page: R[] = [];
    for (const row of read(last)) if (page.push(row) === PAGE) break;
    for (const row of page) yield wire(row);
    last = page.at(-1);
    if (page.length < PAGE) return;
  }
}

const LEDGER_PAGE = 500;

async function* ledgerOf(
  book: Rooms["book"],
  orgId: string,
  missing: (sinceMs: number) => void,
): AsyncGenerator<object> {
  for (let before: number | undefined; ; ) {
    const { entries, missingSinceMs } = await book.list(orgId, { limit: LEDGER_PAGE, before });
    if (missingSinceMs !== undefined) missing(missingSinceMs);
    for (const entry of entries) yield entryWire(entry);
    const last = entries.at(-1);
    if (last === undefined || entries.length < LEDGER_PAGE) return;
    before = pageEnd(last);
  }
}

function* policiesOf({ policies: { tables } }: Rooms, orgId: string): Generator<object> {
  for (const { name, versions } of tables.policiesOf(orgId)) {
    for (const { version, createdAtMs } of tables.versionsOf(orgId, name, versions, versions)) {
      const yaml = tables.text({ orgId, policy: name, version }) ?? "";
      yield { name, version, created_at: isoTime(createdAtMs), yaml };
    }
  }
}
