/**
 * Services that a gateway runs itself, for people who try it on their machine: identity provider, simulated payments and e-invoices.
 * Cells of one machine share those of their supervisor (`src/cluster/supervisor/services.ts`); a cell without one has none.
 */
import type { Logger } from "pino";
import { type InvoicePortal, startInvoicePortal } from "../../../simulator/invoice-portal/invoice-portal.ts";
import type { Clock } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import type { ListenerName, Listeners } from "../../base/network/listeners.ts";
import { Once } from "../../base/once.ts";
import type { KnownServices, RunningServices, ServicesState } from "../../cluster/supervisor/services.ts";
import type { Config } from "../settings/config.ts";
import { BuiltInProvider } from "./built-in-identity.ts";
import { BuiltInPayments } from "./built-in-payments.ts";
import { SignInLink } from "./sign-in-link.ts";

type ServicesConfig = Pick<Config, "dataDir" | "host" | "publicUrl" | "payments">;

interface ServicesGround {
  readonly clock: Clock;
  readonly log: Logger;
  /** Listeners of this process: what is started here adds its port. */
  readonly listeners: Listeners;
}

/** The services of this process where it is a gateway alone; else those of the supervisor, or none. */
export function servicesOf(
  config: Config,
  ground: ServicesGround,
  { isCell, ofMachine }: { isCell: boolean; ofMachine: KnownServices | undefined },
): { services: KnownServices; ownServices: RunningServices | undefined } {
  if (isCell) return { services: ofMachine ?? noServices(config, ground), ownServices: undefined };
  const ownServices = openServices(config, ground);
  return { services: ownServices, ownServices };
}

/** Starts none of them yet. */
export const openServices = (config: ServicesConfig, ground: ServicesGround): RunningServices =>
  new OwnServices(config, ground);

class OwnServices implements RunningServices {
  readonly #identity: BuiltInProvider;
  readonly #payments: BuiltInPayments;
  readonly #portal: Once<InvoicePortal>;
  readonly #hasPayments: boolean;
  readonly #listeners: Listeners;
  readonly #changed = new Set<() => void>();
  readonly #link: SignInLink;

  constructor(config: ServicesConfig, { clock, log, listeners }: ServicesGround) {
    const changed = () => {
      for (const heard of this.#changed) heard();
    };
    const listensAs = (name: ListenerName) => (port: number) => listeners.add(name, port);
    this.#link = new SignInLink(clock);
    this.#listeners = listeners;
    listeners.onChange(changed);
    this.#identity = new BuiltInProvider(config, { clock, log, onListening: listensAs("identity") });
    this.#payments = new BuiltInPayments(config, {
      clock,
      log,
      onUp: changed,
      onListening: listensAs("payments"),
    });
    this.#portal = new Once(() => startPortal(clock, log, listensAs("portal")));
    this.#hasPayments = isPaidHere(config);
  }

  identity = () => this.#identity.address();
  payments = () => this.#payments.address();
  portal = async () => (await this.#portal.get()).url;
  forgetPerson = (sub: string) => this.#identity.forget(sub);
  firstPerson = () => this.#identity.firstPerson();
  readonly hasLink = true;
  makeLink = () => this.#link.make();
  isLinkOpen = async (token: string) => this.#link.isOpen(token);
  takeLink = async (token: string) => this.#link.take(token);

  state(): ServicesState {
    return { payments: this.#payments.running, ports: this.#listeners.ports() };
  }

  onChange(changed: () => void): void {
    this.#changed.add(changed);
  }

  listensAt(port: number): void {
    this.#identity.listensAt(port);
    this.#payments.listensAt(port, this.#hasPayments);
  }

  async close(): Promise<void> {
    const portal = this.#portal.made?.catch(() => undefined);
    await Promise.all([this.#identity.close(), this.#payments.close(), portal?.then((up) => up?.close())]);
  }
}

/** The simulated portal of e-invoices, started at the first document: its numbers are worth nothing. */
async function startPortal(
  clock: Clock,
  log: Logger,
  onListening: (port: number) => void,
): Promise<InvoicePortal> {
  const portal = await startInvoicePortal({ clock, onListening });
  log.info(`e-invoices are registered at the simulated portal, ${portal.url}`);
  return portal;
}

/**
 * Services of a cell that no supervisor started: the other cells would not know what it started itself. Logs what has to be set instead.
 */
function noServices(config: Config, { clock, log }: Omit<ServicesGround, "listeners">): KnownServices {
  for (const line of missing(config)) log.warn(line);
  // A list that the folder has from the time when it was a gateway's own.
  const people = new BuiltInProvider(config, { clock, log, onListening() {} });
  return {
    identity: () => Promise.reject(fail("identity_unavailable", NO_IDENTITY.join(" "), { retryable: false })),
    payments: () => Promise.reject(new Error(NO_PAYMENTS)),
    portal: async () => undefined,
    forgetPerson: (sub) => people.forget(sub),
    firstPerson: () => people.firstPerson(),
    hasLink: false,
    isLinkOpen: async () => false,
    takeLink: async () => false,
    state: () => ({ ports: [], payments: undefined }),
    onChange() {},
  };
}

const NO_IDENTITY = ["No identity provider is configured.", "Set OIDC_ISSUER."] as const;
const NO_PAYMENTS =
  "PAYMENTS_SIMULATOR_URL: is not set, and payments are simulated: cells without a common supervisor need a simulated service of its own process";

/** Whether payments are made at the built-in service. */
const isPaidHere = ({ payments: { gateways, simulator } }: Pick<Config, "payments">): boolean =>
  simulator === undefined && Object.values(gateways).includes("simulated");

/** What a gateway alone has built in, and cells of several supervisors do not. */
function missing(config: Config): string[] {
  const { oidc, smtp } = config;
  const lines: string[] = [];
  if (oidc === undefined)
    lines.push(
      "OIDC_ISSUER: is not set, so nobody can sign in: the built-in identity provider is for a gateway alone and for `weir --cells`",
    );
  if (isPaidHere(config)) lines.push(NO_PAYMENTS);
  if (smtp === undefined)
    lines.push("SMTP_URL: is not set, so mails are files in the folder of the cell that wrote them");
  return lines;
}
