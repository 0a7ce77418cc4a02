import { sha256 } from '@turnlog/kernel';

/**
 * The one style of an exported page. Words keep a contrast of 4.5 to what they stand on, on light and on dark screens;
 * paper is always light, and shows what is folded on a screen. Where a line of a call is too long, its gist gives way
 * first. The digest stands in the page's policy, so nothing else can style it.
 */
export const htmlStyle: string = `
:root{color-scheme:light dark;
--page:#fbfaf8;--card:#fff;--ink:#1f2328;--soft:#57606a;--faint:#656d76;--line:#e3e1dc;--code:#f4f2ee;
--user:#0b5cad;--user-wash:#eef5fc;--agent:#1f2328;--plan:#7a4b00;--plan-wash:#fdf6e7;--good:#1a7f37;--bad:#b3261e;
--bad-wash:#fdf0ef;--open:#9a6700;--add:#116329;--add-wash:#e6f6e9;--del:#a0111f;--del-wash:#fdeceb;
--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;
--text:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Ubuntu,Cantarell,sans-serif}
@media screen and (prefers-color-scheme:dark){:root{
--page:#14161a;--card:#1b1e23;--ink:#e4e6ea;--soft:#a4abb5;--faint:#8b939f;--line:#2d3138;--code:#22262d;
--user:#79b8ff;--user-wash:#172433;--agent:#e4e6ea;--plan:#e3b565;--plan-wash:#2a2417;--good:#57c26e;--bad:#ff8178;
--bad-wash:#331d1d;--open:#e0b04a;--add:#7ee08f;--add-wash:#15291b;--del:#ff9a93;--del-wash:#33191a}}
*{box-sizing:border-box}
html{scroll-padding-top:3.5rem}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.6 var(--text);overflow-wrap:anywhere}
main,header.top,footer{max-width:54rem;margin:0 auto;padding:0 1.25rem}
header.top{padding-top:2.5rem;padding-bottom:1.25rem}
h1{margin:0 0 .25rem;font-size:1.75rem;line-height:1.25;letter-spacing:-.01em}
.id{font:.85rem var(--mono);color:var(--faint)}
dl.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(12.5rem,1fr));gap:.75rem 1.25rem;margin:1.25rem 0 0;
padding:1rem 1.25rem;background:var(--card);border:1px solid var(--line);border-radius:.6rem}
dl.facts div.wide{grid-column:1/-1}
dl.facts dt{font-size:.72rem;letter-spacing:.04em;text-transform:uppercase;color:var(--faint)}
dl.facts dd{margin:0;font-variant-numeric:tabular-nums}
nav{margin-top:1rem;font-size:.9rem}
nav ol{display:flex;flex-wrap:wrap;gap:.35rem;margin:.5rem 0 0;padding:0;list-style:none}
nav a{display:block;min-width:2rem;padding:.05rem .5rem;text-align:center;border:1px solid var(--line);
border-radius:.4rem;color:inherit;text-decoration:none;font-variant-numeric:tabular-nums;background:var(--card)}
nav a:hover,a.at:hover{color:var(--user)}
nav a.failed{border-color:var(--bad);color:var(--bad)}
h2{position:sticky;top:0;z-index:1;display:flex;align-items:baseline;gap:.75rem;margin:2rem -1.25rem 1rem;
padding:.6rem 1.25rem;background:var(--page);border-bottom:1px solid var(--line);font-size:1.05rem}
h2:first-child{margin-top:1rem}
h2 small{font-size:.8rem;font-weight:400;color:var(--soft);font-variant-numeric:tabular-nums}
h2 .end{margin-left:auto}
.goal{margin:-.25rem 0 1rem;color:var(--soft)}
article{margin:0 0 1rem}
details+article{margin-top:1rem}
details+h2,article+h2{margin-top:2.5rem}
.by{display:flex;align-items:baseline;gap:.6rem;margin-bottom:.2rem;font-size:.82rem;font-weight:600}
a.at{margin-left:auto;flex:none;font:400 .75rem var(--mono);color:var(--faint);text-decoration:none;white-space:nowrap}
.said{white-space:pre-wrap}
.said .h{font-weight:650}
article.user{padding:.75rem 1rem;background:var(--user-wash);border-left:3px solid var(--user);border-radius:.3rem}
article.user .by{color:var(--user)}
article.agent .by{color:var(--soft)}
article.context{padding:.5rem 1rem;border-left:3px solid var(--line);color:var(--soft);font-size:.92rem}
article.plan,article.decision{padding:.75rem 1rem;background:var(--plan-wash);border-left:3px solid var(--plan);
border-radius:.3rem}
article.plan .by,article.decision .by{color:var(--plan)}
article.decision ul{margin:.4rem 0 0;padding-left:1.2rem;color:var(--soft)}
article.note{display:flex;flex-wrap:wrap;align-items:baseline;gap:.15rem .6rem;font-size:.88rem;color:var(--soft)}
article.note .what{font-weight:600}
article.note .said{flex:1 1 auto}
article.note.bad{padding:.6rem 1rem;background:var(--bad-wash);border-left:3px solid var(--bad);border-radius:.3rem;
color:var(--ink)}
article.note.bad .what{color:var(--bad)}
article.note details{flex-basis:100%;margin:.35rem 0 0}
details{margin:0 0 .5rem;background:var(--card);border:1px solid var(--line);border-radius:.5rem}
summary{display:flex;align-items:baseline;gap:.6rem;padding:.4rem .8rem;font-size:.88rem;cursor:pointer;list-style:none}
summary::-webkit-details-marker{display:none}
summary::before{content:"›";flex:none;width:.6rem;color:var(--faint);font-weight:600}
details[open]>summary::before{content:"⌄"}
summary:hover{background:var(--code);border-radius:.5rem}
summary .name{flex:0 1 auto;max-width:45%;font:600 .84rem var(--mono)}
summary .gist{flex:1 10000 auto;min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;
font:.82rem var(--mono);color:var(--soft)}
.state{flex:0 1 auto;max-width:40%;font-size:.78rem;font-weight:600}
.state::before{content:"●";margin-right:.35rem;font-size:.6rem;vertical-align:.12em}
.state.good{color:var(--good);font-weight:400}
.state.bad{color:var(--bad)}.state.bad::before{content:"✕";font-size:.8rem;vertical-align:0}
.state.open{color:var(--open)}.state.open::before{content:"○"}
.more{padding:.2rem .8rem .7rem}
.pane{margin:.5rem 0 .2rem;font-size:.72rem;letter-spacing:.04em;text-transform:uppercase;color:var(--faint)}
details.thought{border-style:dashed;background:none}
details.thought .said{padding:0 .8rem .7rem 2rem;color:var(--soft);font-size:.94rem}
pre{margin:.5rem 0;padding:.65rem .85rem;max-height:34rem;overflow:auto;background:var(--code);border-radius:.4rem;
font:.82rem/1.5 var(--mono);white-space:pre-wrap;tab-size:4}
code{padding:.08em .32em;background:var(--code);border-radius:.25rem;font:.88em var(--mono)}
ul.files{margin:.3rem 0;padding:0;list-style:none;font:.85rem var(--mono)}
ul.files b{display:inline-block;min-width:4.5rem;margin-right:.6rem;font-weight:400;color:var(--faint)}
pre .a{display:block;color:var(--add);background:var(--add-wash)}
pre .d{display:block;color:var(--del);background:var(--del-wash)}
pre .k{display:block;color:var(--faint)}
pre .s{display:block}
.asset{margin:.4rem 0 0;font:.8rem var(--mono);color:var(--soft)}
.asset img{display:block;max-width:100%;margin:.3rem 0;border:1px solid var(--line);border-radius:.4rem}
.part{margin:1.5rem 0;padding:.6rem 1rem;border:1px dashed var(--line);border-radius:.4rem;color:var(--soft)}
:target{outline:2px solid var(--user);outline-offset:.3rem;border-radius:.3rem}
footer{padding-top:2rem;padding-bottom:3rem;color:var(--faint);font-size:.82rem}
@media (max-width:40rem){body{font-size:15px}summary{flex-wrap:wrap}summary .gist{flex-basis:100%;order:9}
summary .name{max-width:60%}h2{flex-wrap:wrap}}
@media print{:root{--page:#fff;--card:#fff;--code:#f6f6f4;color-scheme:light}body{font-size:10.5pt}
h2{position:static;break-after:avoid}nav{display:none}pre{max-height:none;overflow:visible}
details:not([open])>.more,details:not([open])>.said{display:block}details::details-content{content-visibility:visible;
display:block}summary::before{display:none}article,summary{break-inside:avoid}.by,summary,.pane{break-after:avoid}
pre{orphans:3;widows:3}}
`;

const styleDigest = Buffer.from(sha256(new TextEncoder().encode(htmlStyle))).toString('base64');

/** Nothing is loaded, nothing runs; images are those that stand in the page itself. */
export const htmlPolicy: string = `default-src 'none'; style-src 'sha256-${styleDigest}'; img-src data:`;
