/**
 * The process that the crash test kills: puts one mail, unless the folder has one already, and sends what waits.
 * Run: `node test/crash/account/mail/sender.ts <folder> <port of the mail server>`.
 */

import { openMail } from "../../../../src/account/mail/mail.ts";
import { ticketDecided } from "../../../../src/account/mail/templates/ticket-decided.ts";
import { AccountTables } from "../../../../src/account/tables.ts";
import { systemClock as clock, systemTimers as timers } from "../../../../src/base/clock.ts";
import { USUAL_QUOTAS } from "../../../../src/base/quota.ts";
import { Events } from "../../../../src/store/events/events.ts";
import { Jobs } from "../../../../src/store/jobs/jobs.ts";
import { openStore } from "../../../../src/store/store.ts";

const [dataDir = "", port = ""] = process.argv.slice(2);
const onFailure = (error: unknown) => console.log((error as Error).message);
const store = openStore(dataDir);
const accounts = new AccountTables(store);
const events = new Events({ store, clock, onFailure });
const jobs = new Jobs({ store, clock, timers, random: () => 0, holder: "local", onFailure });
const mail = openMail({
  store,
  clock,
  timers,
  jobs,
  events,
  accounts,
  dataDir,
  onFailure,
  smtp: { host: "127.0.0.1", port: Number(port), isTls: false, isLoopback: true, user: "", password: "" },
  from: { name: "Weir", address: "weir@gateway.example" },
  address: () => "https://gateway.example",
  invoiceFile: async () => undefined,
  quotas: USUAL_QUOTAS,
});
const done = store.table<true>("put-by-this-test");
await store.act(() => {
  if (done.get("mail") !== undefined) return;
  done.put("mail", true);
  const data = { id: "tkt_1", status: "approved", subject: "More", created_by: "" } as const;
  mail.put(ticketDecided, { orgId: "org_1", to: "ann@acme.example", data });
});
await mail.start();
await jobs.start();
console.log("started");
