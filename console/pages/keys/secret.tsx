/** The dialog of a key's secret: behind it one sets up a client with the key. */
import { showSecret as show } from "../../parts/secret.tsx";

export interface KeySecret {
  readonly id: string;
  readonly name: string;
  readonly secret: string;
  /** What became of the key that it replaces. */
  readonly about?: string;
}

export const showSecret = ({ id, ...secret }: KeySecret): void =>
  show({ ...secret, next: { text: "Stored: set up a client", to: ["setup"], filters: { key: id } } });
