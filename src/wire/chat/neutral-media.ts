/** Content parts other than text: images, files, sound, video. */
import { mediaSource } from "../media/data-url.ts";
import { fileType } from "../media/file-names.ts";
import { objectAt, optional, stringAt, under, wrong } from "../neutral/fields.ts";
import type { DocumentPart, ImagePart, RecordingPart } from "../neutral/neutral.ts";
import type { JsonObject } from "../neutral/reader.ts";
import type { Source } from "../neutral/source.ts";
import { dropOthers, type Reading, readCache } from "./neutral-reading.ts";

export function imagePart(reading: Reading, part: JsonObject, at: string): ImagePart {
  const place = under(at, "image_url");
  const image = addressed(part.image_url, place);
  dropOthers(reading, image, place, ["url", "detail"]);
  const url = stringAt(image.url, `${place}/url`);
  const detail = optional(image.detail, `${place}/detail`, stringAt);
  const cache = readCache(reading, part, at);
  return {
    type: "image",
    source: mediaSource(reading.source, url, `${place}/url`, ""),
    ...(detail !== undefined && { detail }),
    ...(cache && { cache }),
    at,
  };
}

export function videoPart(reading: Reading, part: JsonObject, at: string): RecordingPart {
  const place = under(at, "video_url");
  const video = addressed(part.video_url, place);
  dropOthers(reading, video, place, ["url"]);
  const url = stringAt(video.url, `${place}/url`);
  return { type: "video", source: mediaSource(reading.source, url, `${place}/url`, "video/mp4"), at };
}

/** Some clients send the address as a string. */
const addressed = (value: unknown, at: string): JsonObject =>
  typeof value === "string" ? { url: value } : objectAt(value, at);

export function audioPart(reading: Reading, part: JsonObject, at: string): RecordingPart {
  const place = under(at, "input_audio");
  const audio = objectAt(part.input_audio, place);
  dropOthers(reading, audio, place, ["data", "format"]);
  const data = stringAt(audio.data, `${place}/data`);
  const format = stringAt(audio.format, `${place}/format`);
  if (data.startsWith("data:")) {
    return { type: "audio", source: mediaSource(reading.source, data, `${place}/data`, ""), at };
  }
  return { type: "audio", source: { kind: "data", mediaType: `audio/${format}`, data }, at };
}

export function filePart(reading: Reading, part: JsonObject, at: string): DocumentPart {
  const place = under(at, "file");
  const file = objectAt(part.file, place);
  dropOthers(reading, file, place, ["file_data", "file_id", "filename"]);
  const name = optional(file.filename, `${place}/filename`, stringAt);
  const cache = readCache(reading, part, at);
  return {
    type: "document",
    source: fileSource(reading.source, file, name, place),
    ...(name !== undefined && { name }),
    ...(cache && { cache }),
    at,
  };
}

function fileSource(
  source: Source,
  file: JsonObject,
  name: string | undefined,
  at: string,
): DocumentPart["source"] {
  const id = optional(file.file_id, `${at}/file_id`, stringAt);
  const data = optional(file.file_data, `${at}/file_data`, stringAt);
  if (data === undefined) {
    if (id === undefined) throw wrong(at, "file_data or file_id");
    return { kind: "file", id };
  }
  const named = fileType(name === undefined ? "" : source.whole(name));
  const isAddress = data.startsWith("data:") || /^https?:/i.test(data);
  return isAddress
    ? mediaSource(source, data, `${at}/file_data`, named)
    : { kind: "data", mediaType: named, data };
}
