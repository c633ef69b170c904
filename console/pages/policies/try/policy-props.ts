/** What a page of one policy is told by its address. */
export interface PolicyProps {
  readonly name: string;
  /** Undefined: the one in force, else the newest. */
  readonly version: number | undefined;
}
