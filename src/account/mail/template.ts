/**
 * A template: which data one sort of mail needs, and the letter made of them. A mail of a new sort is a file in `templates/`
 * and a line in `templates.ts`.
 */
import type { z } from "zod";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { EventName } from "../../store/events/types.ts";
import type { AccountTables } from "../tables.ts";
import type { Attachment, Letter } from "./letter.ts";
import type { OrgFormat } from "./org-format.ts";
import type { Reader } from "./reader.ts";

/** A letter that may leave out its last line, which then is `whyOrgMail`. */
type Composed = Omit<Letter, "why"> & Partial<Pick<Letter, "why">>;

export interface MailTemplate<D = unknown> {
  /** Waiting mails name it: it stays the same over releases. */
  readonly name: string;
  /** The schema of what the mail's row keeps until the mail is sent, which holds no secret. */
  readonly data: z.ZodType<D>;
  /** The event that puts this mail to the org; `data` then reads what it needs of the event's data. */
  readonly event?: EventName;
  /**
   * The mail tells of a payment, or of the end of an org. The bounds of mails a day do not hold it back, so only mails that no caller
   * can cause at will may be essential.
   */
  readonly isEssential?: boolean;
  /** Called when the mail is sent, in each try. @returns undefined where there is nothing to say any more */
  compose(data: D, context: LetterContext): MaybePromise<Composed | undefined>;
}

/** Fixes the type of the data. */
export const mailTemplate = <D>(template: MailTemplate<D>): MailTemplate<D> => template;

/** Puts one mail to one address. @returns the key of its job */
export type PutMail = <D>(
  template: MailTemplate<D>,
  mail: { readonly orgId: string; readonly to: string; readonly data: D },
) => string;

/** What letters are made with, besides their own data. */
export interface LetterContext extends OrgFormat {
  readonly orgId: string;
  /** The org's name now; its id where the org is not known any more. */
  readonly orgName: string;
  /** Whom this one goes to. */
  readonly reader: Reader;
  /** The gateway's own, without a slash at the end. */
  readonly address: string;
  /** The address of a page of the org in the console: `consolePage("keys", id)`. */
  consolePage(...path: readonly string[]): string;
  readonly accounts: Pick<AccountTables, "key" | "project" | "people">;
  /** The id of the org's invitation to a person; undefined where they are not invited any more. */
  invitationId(userId: string): string | undefined;
  /** A document of the org as PDF. @returns undefined where there is no such document */
  invoiceFile(id: string): Promise<Attachment | undefined>;
}
