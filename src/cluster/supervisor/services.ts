/**
 * Services that a machine has once, whatever number of cells: identity provider, simulated payments and e-invoices, for people who
 * try the gateway without services of their own. The supervisor runs them, and each cell asks it how to reach them.
 */

import { type Answer, Questions } from "./questions.ts";

/** How to reach the built-in identity provider. */
export interface IdentityAddress {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** How to reach the simulated payment service. */
export interface PaymentsAddress {
  /** Base of its API; loopback. */
  readonly url: string;
  readonly key: string;
  /** Signs its webhooks. */
  readonly webhookSecret: string;
}

/** Each is started when it is first asked for. @throws Error (as a rejection) where it does not start */
export interface Services {
  identity(): Promise<IdentityAddress>;
  payments(): Promise<PaymentsAddress>;
  /** @returns base URL of the simulated portal of e-invoices; undefined: documents are not registered */
  portal(): Promise<string | undefined>;
  /** Removes a person from the list of the identity provider, if they are on it. */
  forgetPerson(sub: string): Promise<void>;
  /** The first person on the identity provider's list. An empty list gets its first person by this call. */
  firstPerson(): Promise<LocalPerson>;
  /** Whether the token is that of the sign-in link, which stays open. */
  isLinkOpen(token: string): Promise<boolean>;
  /** Uses the sign-in link up: of any number of callers, of any cells, one gets true. */
  takeLink(token: string): Promise<boolean>;
}

/** What all cells know of the services without asking. */
export interface ServicesState {
  /** Ports of this machine on which they and what else their process has started listen, or are about to. */
  readonly ports: readonly number[];
  /** Undefined: no payment was simulated since the start, nor left open before it. */
  readonly payments: PaymentsAddress | undefined;
}

/** As the rooms of a gateway use them. */
export interface KnownServices extends Services {
  /** Whether a link can be made here: there is an identity provider, and one process that all of them ask. */
  readonly hasLink: boolean;
  state(): ServicesState;
  /** Calls `changed` at each change of the state. */
  onChange(changed: () => void): void;
}

/** Somebody on the list of the identity provider. */
export interface LocalPerson {
  readonly sub: string;
  readonly email: string;
  readonly name: string;
}

/** As the supervisor runs them. */
export interface RunningServices extends KnownServices {
  /** Makes the sign-in link; the one before it ends. @returns its path, which holds a secret */
  makeLink(): string;
  /** The port of the gateway is known, and they may send browsers and webhooks there. */
  listensAt(port: number): void;
  close(): Promise<void>;
}

/** A call of a service, from process to process. */
export type ServiceCall = {
  readonly [Name in keyof Services]: { readonly name: Name; readonly args: Parameters<Services[Name]> };
}[keyof Services];

/** Does what a cell asked for. @throws Error (as a rejection) of the service */
export function called(services: Services, call: ServiceCall): Promise<unknown> {
  switch (call.name) {
    case "forgetPerson":
      return services.forgetPerson(...call.args);
    case "isLinkOpen":
      return services.isLinkOpen(...call.args);
    case "takeLink":
      return services.takeLink(...call.args);
    default:
      return services[call.name]();
  }
}

/** Starting one takes a second on a busy machine. */
const ANSWER_MS = 20_000;

/** The cell's side: each call is a message to the supervisor, answered by its number. */
export class RemoteServices implements KnownServices {
  readonly #questions: Questions<ServiceCall>;
  #state: ServicesState = { ports: [], payments: undefined };
  readonly #changed = new Set<() => void>();

  constructor(send: (number: number, call: ServiceCall) => void) {
    this.#questions = new Questions(send);
  }

  identity = () => this.#call({ name: "identity", args: [] }) as Promise<IdentityAddress>;
  payments = () => this.#call({ name: "payments", args: [] }) as Promise<PaymentsAddress>;
  portal = () => this.#call({ name: "portal", args: [] }) as Promise<string | undefined>;
  forgetPerson = async (sub: string) => void (await this.#call({ name: "forgetPerson", args: [sub] }));
  firstPerson = () => this.#call({ name: "firstPerson", args: [] }) as Promise<LocalPerson>;
  readonly hasLink = true;
  isLinkOpen = (token: string) => this.#call({ name: "isLinkOpen", args: [token] }) as Promise<boolean>;
  takeLink = (token: string) => this.#call({ name: "takeLink", args: [token] }) as Promise<boolean>;

  state(): ServicesState {
    return this.#state;
  }

  onChange(changed: () => void): void {
    this.#changed.add(changed);
  }

  /** The supervisor told the state. */
  heardState(state: ServicesState): void {
    this.#state = state;
    for (const changed of this.#changed) changed();
  }

  /** The supervisor answered a call. */
  heardAnswer(number: number, answer: Answer): void {
    this.#questions.heard(number, answer);
  }

  /** The supervisor has died. */
  end(): void {
    this.#questions.fail("the supervisor has ended");
  }

  #call(call: ServiceCall): Promise<unknown> {
    return this.#questions.ask(call, ANSWER_MS);
  }
}
