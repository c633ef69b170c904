/** Media that clients of OpenAI's formats send inside addresses (RFC 2397). */
import { wrong } from "../neutral/fields.ts";
import type { MediaSource } from "../neutral/neutral.ts";
import type { Source } from "../neutral/source.ts";

const BASE64 = "base64";

/**
 * What an address stands for. A data URL's base64 is not looked at: it may be a mark.
 * @param otherwise the media type of a data URL that names none; "" where its first bytes are to tell.
 * @throws WeirError 400 naming `at`.
 */
export function mediaSource(source: Source, url: string, at: string, otherwise: string): MediaSource {
  if (!url.startsWith("data:")) return { kind: "url", url };
  const comma = url.indexOf(",");
  if (comma < 0) throw wrong(at, "a data URL with a comma before its data");
  const words = url.slice("data:".length, comma).split(";");
  // Clients that know no type write `data:base64,`.
  const [type = "", ...parameters] = words[0]?.trim().toLowerCase() === BASE64 ? ["", ...words] : words;
  const mediaType = type.trim().toLowerCase() || otherwise;
  const data = url.slice(comma + 1);
  if (parameters.some((parameter) => parameter.trim().toLowerCase() === BASE64)) {
    return { kind: "data", mediaType, data };
  }
  return { kind: "data", mediaType, data: base64Of(source.whole(data), at) };
}

function base64Of(escaped: string, at: string): string {
  try {
    return Buffer.from(decodeURIComponent(escaped)).toString("base64");
  } catch {
    throw wrong(at, "a data URL that is base64 or percent-encoded UTF-8");
  }
}
