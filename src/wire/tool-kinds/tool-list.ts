/**
 * The tools of a request while they are read, each name once. Providers refuse a name that is offered twice ("tools: Tool names must
 * be unique", eclipse-theia/theia#16122), and clients that gather tools from several places offer some twice (microsoft/vscode#278073).
 */
import type { NeutralTool } from "../neutral/neutral.ts";

interface Placed {
  readonly tool: NeutralTool;
  readonly at: string;
}

export class ToolList {
  readonly #dropped: string[];
  readonly #tools = new Map<string, Placed>();

  /** @param dropped gets the pointers of what is left out */
  constructor(dropped: string[]) {
    this.#dropped = dropped;
  }

  get tools(): NeutralTool[] {
    return Array.from(this.#tools.values(), ({ tool }) => tool);
  }

  get size(): number {
    return this.#tools.size;
  }

  /**
   * A tool that is offered again is left out; another one of the same name takes the place of the first, which is left out.
   * @param tool whose name is whole, no mark @param at JSON pointer in the client's body
   */
  add(tool: NeutralTool, at: string): void {
    const before = this.#tools.get(tool.name);
    if (before !== undefined) this.#dropped.push(isSame(before.tool, tool) ? at : before.at);
    this.renew(tool, at);
  }

  /** The same of a tool that the conversation offers on its way: it may do so again, so nothing is lost. */
  renew(tool: NeutralTool, at: string): void {
    this.#tools.set(tool.name, { tool, at });
  }
}

const isSame = (one: NeutralTool, other: NeutralTool): boolean =>
  one.kind === other.kind &&
  one.description === other.description &&
  one.strict === other.strict &&
  one.grammar?.syntax === other.grammar?.syntax &&
  one.grammar?.definition === other.grammar?.definition &&
  one.parameters.text === other.parameters.text;
