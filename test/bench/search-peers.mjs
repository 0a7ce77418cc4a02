// Libraries that search in memory, each over the same texts and asked for any of the words: peers of `search`.

import { peerVersion, requirePeer } from './machine.mjs';

const MiniSearch = requirePeer('minisearch');
const orama = requirePeer('@orama/orama');
const { Index: FlexIndex } = requirePeer('flexsearch');

/** What the peers have in common: they build from texts, and open by building again what `serialised` gave. */
class Peer {
  constructor(rowsWanted) {
    this.rowsWanted = rowsWanted;
  }

  async prepare(texts) {
    this.texts = texts;
  }

  get diskBytes() {
    return null;
  }
}

export class MiniSearchPeer extends Peer {
  name = `MiniSearch ${peerVersion('minisearch')}`;

  #options = { fields: ['text'], tokenize: (text) => text.split(' ') };

  async build() {
    this.engine = new MiniSearch(this.#options);
    this.engine.addAll(this.texts.map((text, id) => ({ id, text })));
  }

  async open() {
    this.engine = MiniSearch.loadJSON(this.stored, this.#options);
  }

  query(words) {
    return this.engine.search(words.join(' ')).slice(0, this.rowsWanted).length;
  }

  close() {
    this.stored = JSON.stringify(this.engine);
    this.engine = null;
  }
}

export class OramaPeer extends Peer {
  name = `Orama ${peerVersion('@orama/orama')}`;

  #empty() {
    this.engine = orama.create({ schema: { text: 'string' } });
  }

  async build() {
    this.#empty();
    await orama.insertMultiple(
      this.engine,
      this.texts.map((text) => ({ text })),
      1_000,
    );
  }

  async open() {
    this.#empty();
    orama.load(this.engine, JSON.parse(this.stored));
  }

  /** Any of the words, as the others are asked; by default it wants all. */
  query(words) {
    return orama.search(this.engine, { term: words.join(' '), limit: this.rowsWanted, threshold: 1 }).hits
      .length;
  }

  close() {
    this.stored = JSON.stringify(orama.save(this.engine));
    this.engine = null;
  }
}

/** It ranks by the places of words, not by how rare they are. */
export class FlexSearchPeer extends Peer {
  name = `FlexSearch ${peerVersion('flexsearch')}`;

  #empty() {
    this.engine = new FlexIndex({ tokenize: 'strict' });
  }

  async build() {
    this.#empty();
    for (const [id, text] of this.texts.entries()) this.engine.add(id, text);
  }

  async open() {
    this.#empty();
    for (const [key, value] of this.stored) this.engine.import(key, value);
  }

  query(words) {
    return this.engine.search(words.join(' '), { limit: this.rowsWanted, suggest: true }).length;
  }

  close() {
    this.stored = [];
    this.engine.export((key, value) => this.stored.push([key, value]));
    this.engine = null;
  }
}
