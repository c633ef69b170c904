/** What a view is: an address of the console, and what is on it. */
import type { ROUTES } from "../../../console/api/operations.ts";
import type { Samples } from "../samples.ts";

/** An operation of the API that the console calls. */
type Operation = keyof typeof ROUTES;

export interface View {
  /** Also the name of its picture. */
  readonly name: string;
  /** Behind `/console/{org}/`; one that begins with `/` is of the gateway's own pages. */
  readonly address: string | ((samples: Samples) => string);
  /** CSS selector of what is there once the view is; by default its heading. */
  readonly shows?: string;
  /** Operations without which a role does not see it: as in `console/app/pages.ts`, and what the view itself is about. */
  readonly needs?: readonly Operation[];
  /** It shows what calls say while they run. */
  readonly readsPayloads?: boolean;
  /** Keys pressed once its page is there. */
  readonly press?: string;
  /** Selectors of what is clicked, one after the other, once its page is there: a menu, a dialog. */
  readonly click?: readonly string[];
  /** Keys pressed after all that was clicked. */
  readonly thenPress?: readonly string[];
  /** The gateway does what it shows for one person of an org at a time. */
  readonly isOneAtATime?: boolean;
  /** Calls run meanwhile. */
  readonly withCalls?: boolean;
  /** Its address answers with a status of an error, which a browser notes. */
  readonly isError?: boolean;
}

/** What every view of the playground needs. */
export const PLAYGROUND = ["createPlaygroundKey", "listModels", "listProjects"] as const;
