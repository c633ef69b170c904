/** What data are: by their label's right name, and by their first bytes. */
import { describe, expect, test } from "vitest";
import { toldBy } from "../../../../src/wire/media/first-bytes.ts";
import { isText, isVague, kindOf, rightType, typeOfAddress } from "../../../../src/wire/media/types.ts";

describe("names", () => {
  test.each([
    ["image/jpg", "image/jpeg"],
    ["IMAGE/PJPEG", "image/jpeg"],
    ["image/x-png", "image/png"],
    [" image/webp ; q=1", "image/webp"],
    ["audio/mp3", "audio/mpeg"],
    ["audio/x-wav", "audio/wav"],
    ["audio/x-m4a", "audio/mp4"],
    ["video/mov", "video/quicktime"],
    ["application/x-pdf", "application/pdf"],
    ["text/x-markdown; charset=utf-8", "text/markdown"],
    ["x-of/nobody", "x-of/nobody"],
    ["", ""],
    ["constructor", "constructor"],
  ])("%j is %j", (label, right) => {
    expect(rightType(label)).toBe(right);
  });

  test.each([
    ["", true],
    ["image/*", true],
    ["*/*", true],
    ["application/octet-stream", true],
    ["image/png", false],
  ])("%j says nothing: %s", (type, is) => {
    expect(isVague(type)).toBe(is);
  });

  test.each([
    ["image/svg+xml", "image", false],
    ["text/csv", "document", true],
    ["application/json", "document", true],
    ["application/pdf", "document", false],
    ["audio/ogg", "audio", false],
    ["nonsense", "document", false],
  ] as const)("%j is of kind %s, text: %s", (type, kind, text) => {
    expect([kindOf(type), isText(type)]).toEqual([kind, text]);
  });

  test.each([
    ["https://e.com/a.PDF?x=b.png", "application/pdf"],
    ["https://e.com/a.jpg#f", "image/jpeg"],
    ["gs://bucket/a.MOV", "video/quicktime"],
    ["https://m.youtube.com/watch?v=a.png", "video/*"],
    ["https://e.com/https://youtu.be/", undefined],
    ["https://e.com/pdf", undefined],
    ["https://e.com/a?file=b.pdf", undefined],
    ["https://e.com/a.constructor", undefined],
  ])("the address %s shows %s", (url, type) => {
    expect(typeOfAddress(url)).toBe(type);
  });
});

describe("first bytes", () => {
  test.each([
    ["\xff\xd8\xff\xe1", "image/jpeg"],
    ["\x89PNG\r\n\x1a\n", "image/png"],
    ["GIF87a", "image/gif"],
    ["RIFF\0\0\0\0WEBPVP8L", "image/webp"],
    ["\0\0\0\x18ftypheic", "image/heic"],
    ["\0\0\0\x18ftypmif1", "image/heif"],
    ["\0\0\0\x1cftypavif", "image/avif"],
    ["II*\0", "image/tiff"],
    ["BM", "image/bmp"],
    ["%PDF-1.4", "application/pdf"],
    ["RIFF\0\0\0\0WAVEfmt ", "audio/wav"],
    ["ID3\x03", "audio/mpeg"],
    ["\xff\xfb\x90", "audio/mpeg"],
    ["\xff\xf1\x50", "audio/aac"],
    ["fLaC", "audio/flac"],
    ["OggS", "audio/ogg"],
    ["FORM\0\0\0\0AIFF", "audio/aiff"],
    ["\0\0\0\x20ftypM4A ", "audio/mp4"],
    ["\0\0\0\x20ftypisom", "video/mp4"],
    ["\0\0\0\x14ftypqt  ", "video/quicktime"],
    ["\x1aE\xdf\xa3\x9fB\x82\x84webm", "video/webm"],
    ["\x1aE\xdf\xa3\x9fB\x82\x88matroska", "video/x-matroska"],
    ["RIFF\0\0\0\0AVI LIST", "video/x-msvideo"],
    ["PK\x03\x04", "application/zip"],
    ["\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"],
    ["RIFF\0\0\0\0constructor", undefined],
    ["", undefined],
    ["hello", undefined],
  ])("%j are %s", (bytes, type) => {
    expect(toldBy(Buffer.from(bytes, "latin1").toString("base64"))?.type).toBe(type);
  });
});
