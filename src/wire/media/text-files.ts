/** Documents of text as files, for dialects that take documents as data alone. */
import type { DocumentPart, NeutralMessage, Part } from "../neutral/neutral.ts";
import type { Source } from "../neutral/source.ts";

/** The messages in which texts are data, but for those that are to be cited and those among the instructions. */
export const withTextFiles = (messages: readonly NeutralMessage[], source: Source): NeutralMessage[] =>
  messages.map((message) =>
    message.role === "system"
      ? message
      : { ...message, parts: message.parts.map((part) => filed(part, source)) },
  );

function filed<P extends Part>(part: P, source: Source): P {
  if (part.type === "document") return asFile(part, source) as P & DocumentPart;
  if (part.type !== "tool_result") return part;
  return { ...part, parts: part.parts.map((inner) => filed(inner, source)) };
}

function asFile(part: DocumentPart, source: Source): DocumentPart {
  if (part.source.kind !== "text" || part.citations === true) return part;
  const data = Buffer.from(source.whole(part.source.text)).toString("base64");
  return { ...part, source: { kind: "data", mediaType: "text/plain", data } };
}
