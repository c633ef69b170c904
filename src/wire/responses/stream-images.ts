/** Reads images from a streamed response: each comes whole, in the item that ends, or in the response at its end. */
import type { JsonObject } from "../neutral/reader.ts";
import { isObject, listOf, objectOf } from "../neutral/reader.ts";
import { readImage } from "./image-item.ts";
import { ReportedStream } from "./stream-report.ts";

export abstract class ImagedStream extends ReportedStream {
  /** Count of images so far. */
  #images = 0;

  /** Reads an event of any shape, images aside. */
  protected abstract takeOther(event: JsonObject, name: string): void;

  /** The number of a part that begins. */
  protected abstract newPart(): number;

  protected takeEvent(event: JsonObject, name: string): void {
    if (isObject(event.item)) this.#add(event.item);
    else if (isObject(event.response)) {
      const items = listOf(event.response.output).map(objectOf);
      // Some servers send only the last event.
      for (const item of items.filter((each) => readImage(each) !== undefined).slice(this.#images))
        this.#add(item);
    }
    this.takeOther(event, name);
  }

  /** An item that begins has no image yet. */
  #add(item: JsonObject): void {
    const media = readImage(item);
    if (media === undefined) return;
    this.#images++;
    this.emit({ type: "media", choice: 0, part: this.newPart(), media });
  }
}
