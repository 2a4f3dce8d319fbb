/** The files of a ZIP file (PKWARE's APPNOTE) whose files are stored as they are, as the lab saves them. */

import { Refusal } from "./refusal.js";

const MOST = 1e6; // bytes of the directory
const TAIL = 65557; // bytes at the end in which the directory is announced
const NONE = "This is no ZIP file, or it is damaged. Save it again.";
const [LOCAL, ENTRY, END] = [0x04034b50, 0x02014b50, 0x06054b50];

/**
 * List the files of a ZIP file, of its first level or of a folder there.
 * @param {File} file of which only the directory is read
 * @returns {Promise<File[]>} parts of it
 */
export async function unzipped(file) {
  const view = async (start, end) => {
    if (start < 0 || end > file.size) throw new Refusal(NONE);
    return new DataView(await file.slice(start, end).arrayBuffer());
  };
  const tail = await view(Math.max(0, file.size - TAIL), file.size);
  let end = tail.byteLength - 22;
  while (end >= 0 && tail.getUint32(end, true) !== END) end--;
  if (end < 0) throw new Refusal(NONE);
  const count = tail.getUint16(end + 10, true);
  const [size, begin] = [12, 16].map((at) => tail.getUint32(end + at, true));
  if (size > MOST) throw new Refusal(NONE);
  const list = await view(begin, begin + size);
  const files = [];
  for (let n = 0, at = 0; n < count; n++) {
    if (at + 46 > size || list.getUint32(at, true) !== ENTRY) throw new Refusal(NONE);
    const [flags, method] = [8, 10].map((place) => list.getUint16(at + place, true));
    const [packed, whole, offset] = [20, 24, 42].map((place) => list.getUint32(at + place, true));
    const [long, extra, comment] = [28, 30, 32].map((place) => list.getUint16(at + place, true));
    if (at + 46 + long > size) throw new Refusal(NONE);
    const path = new TextDecoder().decode(new Uint8Array(list.buffer, at + 46, long)).split("/");
    at += 46 + long + extra + comment;
    if (path.length > 2 || !path.at(-1)) continue; // in a folder inside, or a folder
    if (method || flags & 1 || packed !== whole) {
      throw new Refusal(`“${path.at(-1).slice(0, 60)}” is compressed or encrypted in this ZIP file; the browser opens ` +
        "one whose files are stored as they are, as the lab saves it. Unpack it and choose the folder.");
    }
    const local = await view(offset, offset + 30);
    if (local.getUint32(0, true) !== LOCAL) throw new Refusal(NONE);
    const start = offset + 30 + local.getUint16(26, true) + local.getUint16(28, true);
    if (start + whole > file.size) throw new Refusal(NONE);
    files.push(new File([file.slice(start, start + whole)], path.at(-1)));
  }
  return files;
}
