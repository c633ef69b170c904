/** What cells tell each other of endpoints. Another wing carries it. */

export interface Signals {
  /** Tells all other cells at once; false where it cannot. What is not heard is learned by calls. */
  tell(topic: string, content: unknown): boolean;
  /** @param heard what another cell told, not checked yet, and that cell's name */
  on(topic: string, heard: (content: unknown, from: string) => void): void;
}
