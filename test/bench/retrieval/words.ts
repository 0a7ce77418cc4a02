/** The words that the world is made of. */

const list = (text: string): readonly string[] => text.trim().split(/\s+/);

export const projects = list(`
  harbor lantern quarry meadow falcon copper juniper atlas beacon cobalt
  drift ember fjord granite hazel indigo krill larch marble nimbus
`);

export const areas = list(`
  billing checkout catalog search auth session report export import ledger
  queue worker gateway webhook storage cache metrics alerts profile invite
`);

export const qualifiers = list(`
  Payment Order Invoice Account Tenant Upload Batch Stream Shard Replica
  Token Policy Quota Audit Digest Cursor Snapshot Journal Backup Index
  Layout Render Locale Theme Widget Layer Vector Tile Route Region
`);

export const roles = list(`
  Router Loader Writer Reader Planner Resolver Merger Splitter Tracker Keeper
  Builder Parser Encoder Decoder Validator Scheduler Dispatcher Collector Limiter Watcher
`);

export const nouns = list(`
  retry timeout buffer header payload schema column migration endpoint request
  response handler module config flag test build branch commit review
  change version release deploy rollback monitor dashboard log trace span
  thread lock mutex pool socket client server proxy bucket object
`);

export const verbs = list(`
  checked moved renamed removed added wrapped inlined split merged reverted
  measured logged cached guarded traced documented reordered cleaned formatted extended
`);

export const fileEndings = list('ts tsx py rs go sql yaml json md sh');

export const baseNames = list(`
  index helpers types config client server routes handler schema model
  store utils errors limits parser writer reader worker queue format
`);

/** 120 pairs: who did what to what. What was planted, and what a question says instead. */
export const sentenceParts: readonly (readonly (readonly [planted: string, asked: string])[])[] = [
  `
    physician/doctor child/kid lawyer/attorney pupil/student friend/companion enemy/foe boss/manager labourer/employee
    author/writer teacher/instructor thief/robber policeman/cop pilot/aviator sailor/seaman farmer/peasant cook/chef
    baby/infant woman/lady man/guy king/monarch soldier/warrior guest/visitor buyer/customer seller/vendor
    singer/vocalist wife/spouse mother/mum father/dad assistant/helper scientist/researcher tourist/traveller judge/magistrate
    priest/clergyman fan/admirer hero/champion leader/chief expert/specialist novice/beginner fool/idiot servant/butler
  `,
  `
    purchased/buy repaired/fix selected/choose hid/conceal gathered/collect watched/observe destroyed/demolish constructed/build
    painted/colour washed/rinse raised/lift threw/toss started/begin finished/complete displayed/show loved/adore
    hated/despise wanted/desire required/need discovered/find kept/retain shut/close examined/inspect described/depict
    ruined/spoil dragged/pull shoved/push forgot/overlook remembered/recall altered/change abandoned/leave rejected/refuse
    praised/commend burned/torch copied/duplicate misplaced/lose obtained/get noticed/see decorated/adorn broke/smash
  `,
  `
    car/automobile house/home boat/ship meal/dinner picture/photo song/tune story/tale gift/present
    film/movie shop/store road/street couch/sofa rug/carpet stone/rock forest/wood sea/ocean
    bag/sack cup/mug coat/jacket lamp/light bicycle/bike plane/aircraft lorry/truck garbage/trash
    jewel/gem novel/book sketch/drawing garden/yard flat/apartment hotel/inn television/telly phone/telephone
    path/trail town/city insect/bug rabbit/bunny dog/hound pig/hog plate/dish engine/motor
  `,
].map((words) =>
  list(words).map((pair) => {
    const [planted = '', asked = ''] = pair.split('/');
    return [planted, asked] as const;
  }),
);

/** Topics of decisions, and what may be chosen. */
export const topics: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  `
  database: PostgreSQL MariaDB SQLite CockroachDB Cassandra MongoDB DuckDB Firebird Couchbase Yugabyte
  broker: Kafka RabbitMQ Pulsar NATS ActiveMQ Redpanda ZeroMQ Kinesis Mosquitto NSQ
  format: Protobuf MessagePack Avro CBOR Thrift FlatBuffers BSON Parquet Ion Smile
  bundler: Webpack Rollup Vite Parcel esbuild Turbopack Snowpack Browserify Rspack Brunch
  cloud: Heroku Hetzner Linode Vultr Scaleway Render Railway Fly Netlify Vercel
  language: Kotlin Elixir Haskell OCaml Scala Clojure Erlang Nim Crystal Julia
  editor: Neovim Emacs Helix Kakoune Sublime Zed Atom Nova BBEdit Geany
  proxy: Nginx HAProxy Envoy Traefik Caddy Varnish Squid Apache Pingora Linkerd
  cache: Redis Memcached Hazelcast Ehcache KeyDB Dragonfly Infinispan Aerospike Valkey Olric
  framework: Django Rails Laravel Phoenix Spring Express Fastify Koa Flask Symfony
  monitoring: Prometheus Grafana Datadog Zabbix Nagios Icinga Sensu Netdata Graphite Checkmk
  license: Apache2 MIT BSD GPL LGPL AGPL MPL EPL ISC Zlib
`
    .trim()
    .split('\n')
    .map((line) => {
      const [topic = '', choices = ''] = line.split(':');
      return [topic.trim(), list(choices)] as const;
    }),
);

export const reasons = list(`
  latency footprint licensing familiarity tooling stability throughput cost portability simplicity
`);

/** Half of an error; with a cause it is one of 150 templates. `@` is a component, `#` a number, `%` a path. */
export const failures = `
  @ cannot acquire a lease
  @ could not decode frame # of the stream
  @ rejected the handshake on port #
  @ lost its heartbeat for # ms
  @ failed to flush # pages
  @ was unable to open %
  @ found a checksum mismatch in %
  @ exceeded its budget of # bytes
  @ refused to start twice
  @ aborted transaction #
  @ did not drain within # ms
  @ returned a malformed envelope
  @ dropped # items while shutting down
  @ has no handler for opcode #
  @ timed out while resizing to # slots
`
  .trim()
  .split('\n')
  .map((line) => line.trim());

export const causes = `
  no space left on device %
  connection reset by peer after # ms
  permission denied: %
  unexpected end of file at offset #
  too many open files (limit #)
  certificate expired # days ago
  deadlock detected with process #
  name resolution gave up after # tries
  stale handle %
  value # out of range
`
  .trim()
  .split('\n')
  .map((line) => line.trim());

/** Tools with what they are used for: 80 commands. */
export const commands: readonly {
  readonly tool: string;
  readonly verb: string;
  readonly flag: string;
  readonly says: string;
}[] = `
  kubectl: rollout --grace-period restart the pods; drain --ignore-daemonsets empty the node; scale --replicas grow the set; cordon --selector close the node; logs --previous read the crash
  docker: build --no-cache make the image; prune --volumes free the disk; push --all-tags publish the image; compose --force-recreate bring up the stack; inspect --format tell the mounts
  git: bisect --first-parent find the culprit; rebase --autosquash tidy the history; worktree --detach open another checkout; cherry-pick --strategy carry the fix; reflog --expire forget the past
  psql: vacuum --analyze shrink the table; dump --schema-only save the structure; restore --clean load the snapshot; listen --echo-hidden hear notifications; copy --csv export the rows
  terraform: apply --auto-approve change the cluster; import --lock-timeout adopt the resource; taint --allow-missing mark for replacement; plan --refresh-only compare the drift; output --raw print the address
  cargo: bench --profile time the kernels; clippy --fix repair the warnings; publish --dry-run rehearse the upload; tree --duplicates find double crates; miri --many-seeds hunt undefined behaviour
  ffmpeg: transcode --crf compress the clip; concat --safe join the clips; probe --show-streams describe the tracks; thumbnail --vframes grab a still; normalize --loudnorm even the volume
  rsync: mirror --delete copy the tree; resume --partial continue the copy; limit --bwlimit slow the copy; verify --checksum compare contents; exclude --filter skip the caches
  ssh: tunnel --forward reach the database; keygen --comment make a key; agent --lifetime hold the key; config --canonical show the settings; mux --control share the connection
  curl: upload --data-binary send the payload; retry --max-time poll the endpoint; resolve --connect-to pin the host; trace --verbose show the exchange; cookie --junk-session forget the login
  jq: select --raw-output pick the fields; slurp --compact join the documents; stream --seq follow the feed; sort --sort-keys order the members; args --null-input build a document
  openssl: verify --purpose check the chain; convert --inform change the encoding; digest --hex fingerprint the file; sign --sigopt seal the release; ciphers --stdname list the suites
  ansible: playbook --limit configure the hosts; vault --rekey change the password; inventory --graph draw the groups; galaxy --force refresh the roles; console --become try a module
  helm: upgrade --atomic install the chart; rollback --cleanup-on-fail undo the release; template --debug render the manifests; lint --strict judge the chart; history --max list the revisions
  gradle: assemble --offline compile the app; dependencies --configuration list the libraries; publish --scan release the artifact; test --continuous watch the suite; wrapper --gradle-version pin the builder
  redis-cli: flush --async clear the keys; latency --history time the replies; bigkeys --memkeys find the heavy ones; failover --force promote the replica; monitor --pattern watch the calls
`
  .trim()
  .split('\n')
  .flatMap((line) => {
    const [tool = '', uses = ''] = line.trim().split(': ');
    return uses.split('; ').map((use) => {
      const [verb = '', flag = '', ...says] = use.split(' ');
      return { tool, verb, flag, says: says.join(' ') };
    });
  });

export const properties = list(`
  idempotent paginated throttled encrypted versioned sharded replicated compressed deprecated experimental
  blocking streaming buffered sandboxed localized accessible audited metered archived quarantined
`);

export type Script = 'zh' | 'ja' | 'ko' | 'ru';

/** Words of other languages. Chinese and Japanese ones are written without blanks between them. */
export const scripts: Readonly<
  Record<Script, { readonly words: readonly string[]; readonly blank: string }>
> = {
  zh: {
    words: list(
      '用户 身份 验证 失败 数据 连接 超时 缓存 队列 消息 文件 目录 权限 更新 版本 回滚 部署 配置 日志 监控 请求 响应 接口 测试 覆盖 内存 泄漏 线程 进程 调度 任务 备份 恢复 索引 查询 优化 网络 延迟 证书 过期',
    ),
    blank: '',
  },
  ja: {
    words: list(
      'データ 接続 失敗 認証 設定 更新 検索 削除 保存 起動 停止 再試行 エラー ログ キャッシュ メモリ 監視 実行 環境 変数 依存 関係 画面 表示 入力 出力 形式 変換 圧縮 展開 通知 送信 受信 予約 解約 請求 領収 印刷 翻訳 履歴',
    ),
    blank: '',
  },
  ko: {
    words: list(
      '사용자 인증 실패 데이터 연결 시간초과 캐시 대기열 메시지 파일 디렉터리 권한 갱신 버전 되돌리기 배포 설정 기록 감시 요청 응답 시험 메모리 누수 스레드 작업 백업 복구 색인 질의 최적화 지연 인증서 만료 저장소 암호 압축 전송 수신 알림',
    ),
    blank: ' ',
  },
  ru: {
    words: list(
      'пользователь проверка ошибка данные соединение задержка кэш очередь сообщение файл каталог доступ обновление версия откат сборка настройка журнал наблюдение запрос ответ интерфейс покрытие память утечка поток процесс задача копия восстановление индекс поиск сеть сертификат хранилище пароль сжатие отправка приём уведомление',
    ),
    blank: ' ',
  },
};

export const scriptNames: readonly Script[] = ['zh', 'ja', 'ko', 'ru'];
