/**
 * Where the processes of an installation listen on this machine, in one place. A process that begins to listen adds its port here; a child
 * process tells its own with its ready message. No tenant's URL reaches one of these ports (`src/outbound/rules.ts`).
 */

/** docs/security.md has a row for each. */
export type ListenerName =
  | "gateway"
  | "metrics"
  | "engine"
  | "simulator"
  | "identity"
  | "payments"
  | "portal";

/** Told of each port, the moment it is added. */
export type OnListener = (name: ListenerName, port: number) => void;

export class Listeners {
  readonly #onListener: OnListener;
  readonly #ports = new Map<ListenerName, number>();
  readonly #changed = new Set<() => void>();
  #all: readonly number[] = [];

  constructor(onListener: OnListener = () => {}) {
    this.#onListener = onListener;
  }

  /**
   * It listens on the port, or is about to. A name has one port: the one before is free again.
   * @param port 0: it is not known yet
   */
  add(name: ListenerName, port: number): void {
    if (port === 0 || this.#ports.get(name) === port) return;
    this.#ports.set(name, port);
    this.#all = [...new Set(this.#ports.values())];
    this.#onListener(name, port);
    for (const changed of this.#changed) changed();
  }

  /** Ports on which this process and its children listen. */
  ports(): readonly number[] {
    return this.#all;
  }

  /** Calls `changed` after each change of the ports. */
  onChange(changed: () => void): void {
    this.#changed.add(changed);
  }
}
