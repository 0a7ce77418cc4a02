/**
 * A session as one page: no script, nothing loaded, every value escaped. Each block has the anchor `#s<seq>` of its
 * record; those of the sessions that a fork shares records with have `#p<part>-s<seq>`.
 */

import type { Block, BlockPlace, Pane } from './blocks.js';
import type { DocumentClock } from './document-clock.js';
import { html } from './html-escape.js';
import { grouped } from './html-head.js';
import { htmlSaid } from './html-said.js';

/** What an asset is shown as, by its digest: the source of an image, or null for its name alone. */
export type ImageSource = (sha256: string, mediaType: string) => string | null;

export interface HtmlOptions {
  readonly assets: 'show' | 'omit';
  readonly image: ImageSource;
  readonly clock: DocumentClock;
}

export class HtmlBlocks {
  readonly #options: HtmlOptions;
  #part = 0;
  /** Anchors are given to rising seqs, so none is given twice. */
  #highestSeq = 0;
  #lastTurn = 0;

  constructor(options: HtmlOptions) {
    this.#options = options;
  }

  block(block: Block, part: number): string {
    if (part !== this.#part) {
      this.#part = part;
      this.#highestSeq = 0;
      this.#lastTurn = 0;
    }
    switch (block.kind) {
      case 'turn':
        return this.#turn(block);
      case 'speech':
        return block.voice === 'reasoning' ? this.#thought(block) : this.#speech(block);
      case 'decision':
        return this.#decision(block);
      case 'call':
        return this.#call(block);
      case 'files':
        return this.#files(block);
      case 'note':
        return this.#note(block);
    }
  }

  #anchor(seq: number): string | null {
    if (seq <= this.#highestSeq) return null;
    this.#highestSeq = seq;
    return this.#name(`s${seq}`);
  }

  #name(name: string): string {
    return this.#part === 0 ? name : `p${this.#part}-${name}`;
  }

  /** The attribute that makes it a target, and the link to it. */
  #place({ seq, ts }: BlockPlace): { readonly id: string; readonly link: string } {
    const anchor = this.#anchor(seq);
    const time = this.#options.clock.time(ts);
    const title = ts === null ? '' : ` title="${html(this.#options.clock.exact(ts))}"`;
    if (anchor === null) return { id: '', link: `<a class="at"${title}>#${seq} ${time}</a>` };
    return {
      id: ` id="${anchor}"`,
      link: `<a class="at" href="#${anchor}"${title}>#${seq} ${time}</a>`,
    };
  }

  #turn({ turn, status, usage, ts, goal }: Extract<Block, { kind: 'turn' }>): string {
    const isFirst = turn > this.#lastTurn;
    if (isFirst) this.#lastTurn = turn;
    const id = isFirst ? ` id="${this.#name(`t${turn}`)}"` : '';
    const tokens = usage === null ? '' : `${grouped(usage.input)} in · ${grouped(usage.output)} out · `;
    const tone = status === 'completed' ? 'good' : status === 'failed' ? 'bad' : 'open';
    const aim = goal === null ? '' : `<p class="goal">${html(goal)}</p>\n`;
    return `<h2${id}>Turn ${turn} <small>${tokens}${html(this.#options.clock.minutes(ts))}</small><small class="end state ${tone}">${status}</small></h2>\n${aim}`;
  }

  #speech(block: Extract<Block, { kind: 'speech' }>): string {
    const { id, link } = this.#place(block);
    const said = block.text === '' ? '' : htmlSaid(block.text);
    return `<article${id} class="${block.voice}"><div class="by"><span>${html(block.label)}</span>${link}</div>${said}${this.#assets(block.assets)}</article>\n`;
  }

  #thought(block: Extract<Block, { kind: 'speech' }>): string {
    const { id, link } = this.#place(block);
    // Some programs record that there was a thought, and not what it was.
    const gist =
      block.text === '' ? 'text not recorded' : html(block.text.slice(0, 160).replace(/\s+/g, ' '));
    return `<details${id} class="thought"><summary><span class="name">${html(block.label)}</span><span class="gist">${gist}</span>${link}</summary>${htmlSaid(block.text)}</details>\n`;
  }

  #decision(block: Extract<Block, { kind: 'decision' }>): string {
    const { id, link } = this.#place(block);
    const others = block.alternatives.map((text) => `<li>instead of: ${html(text)}</li>`).join('');
    const list = others === '' ? '' : `<ul>${others}</ul>`;
    const rationale = block.rationale === '' ? '' : htmlSaid(block.rationale);
    return `<article${id} class="decision"><div class="by"><span>Decision</span>${link}</div><strong>${html(block.summary)}</strong>${rationale}${list}</article>\n`;
  }

  #call(block: Extract<Block, { kind: 'call' }>): string {
    const { id, link } = this.#place(block);
    const isOpen = block.tone === 'bad' ? ' open' : '';
    const more = `${panes(block.panes)}${this.#assets(block.assets)}`;
    return `<details${id}${isOpen}><summary><span class="name">${html(block.tool)}</span><span class="gist">${html(block.gist)}</span>${state(block)}${link}</summary><div class="more">${more}</div></details>\n`;
  }

  #files(block: Extract<Block, { kind: 'files' }>): string {
    const { id, link } = this.#place(block);
    const list = block.changes
      .map(({ path, change }) => `<li><b>${html(change)}</b>${html(path)}</li>`)
      .join('');
    const gist =
      block.changes.length === 1 ? (block.changes[0]?.path ?? '') : `${block.changes.length} files`;
    const counts = block.counts === '' ? '' : ` ${block.counts}`;
    const diff = block.diff === null ? '' : diffText(block.diff);
    return `<details${id} open><summary><span class="name">Files${html(counts)}</span><span class="gist">${html(gist)}</span>${state(block)}${link}</summary><div class="more"><ul class="files">${list}</ul>${diff}</div></details>\n`;
  }

  #note(block: Extract<Block, { kind: 'note' }>): string {
    const { id, link } = this.#place(block);
    const said = block.text === '' ? '' : `<span class="said">${html(block.text)}</span>`;
    const more =
      block.panes.length === 0
        ? ''
        : `<details><summary>Show what it holds</summary><div class="more">${panes(block.panes)}</div></details>`;
    return `<article${id} class="note ${block.tone}"><span class="what">${html(block.label)}</span>${said}${link}${more}</article>\n`;
  }

  #assets(assets: Extract<Block, { kind: 'speech' }>['assets']): string {
    if (this.#options.assets === 'omit') return '';
    return assets
      .map(({ sha256, name, mediaType, bytes }) => {
        const title = name === '' ? 'asset' : name;
        const source = this.#options.image(sha256, mediaType);
        const image = source === null ? '' : `<img src="${html(source)}" alt="${html(title)}">`;
        return `<div class="asset">${image}${html(title)} · ${html(mediaType)} · ${html(bytes)} · ${sha256.slice(0, 12)}</div>`;
      })
      .join('');
  }
}

function state({ outcome, tone }: { readonly outcome: string; readonly tone: string }): string {
  return `<span class="state ${tone}">${html(outcome)}</span>`;
}

function panes(all: readonly Pane[]): string {
  return all
    .map(({ label, language, text }) => {
      const body = language === 'diff' ? diffText(text) : `<pre>${html(text)}</pre>`;
      return `<div class="pane">${html(label)}</div>${body}`;
    })
    .join('');
}

function diffText(diff: string): string {
  const lines = diff.replace(/\n$/, '').split('\n').map(diffLine).join('');
  return `<pre>${lines}</pre>`;
}

function diffLine(line: string): string {
  return `<span class="${diffClass(line)}">${line === '' ? ' ' : html(line)}</span>`;
}

function diffClass(line: string): string {
  if (/^(?:\+\+\+|---|@@|diff |index )/.test(line)) return 'k';
  if (line.startsWith('+')) return 'a';
  return line.startsWith('-') ? 'd' : 's';
}
