/** An upstream's error in the client's words: it may quote the name of a tool as the upstream was told it. */
import type { OwnTools } from "../format.ts";
import type { UpstreamError } from "../neutral/contract.ts";

/** UTF-16 units. A longer name stays as it was told, because a message may quote it many times. */
const LONGEST_NAME = 256;

/** The same error where nothing is quoted. */
export function withOwnNames(error: UpstreamError, own: OwnTools | undefined): UpstreamError {
  if (own === undefined || error.message === "") return error;
  let { message } = error;
  for (const [told, { name, namespace }] of own) {
    // The upstream was told a group's name and the tool's as one: the tool's name alone does not stand for both.
    if (namespace === undefined && name !== told && name.length <= LONGEST_NAME) {
      message = message.replaceAll(told, () => name);
    }
  }
  return message === error.message ? error : { ...error, message };
}
