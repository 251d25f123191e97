#include "facts/sysctl_names.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace goldenv::facts {
namespace {

/// Names that Linux kernels have or had, sorted; `*` stands for an interface. Sources: /proc/sys of
/// Linux 6.18, the kernel's admin-guide/sysctl and networking/*-sysctl documents of Linux 6.1,
/// names that older kernels and Debian's and Ubuntu's patches add.
constexpr auto kNames = std::to_array<std::string_view>({
    // clang-format off
    "abi.cp15_barrier", "abi.setend", "abi.sme_default_vector_length",
    "abi.sve_default_vector_length", "abi.swp", "abi.tagged_addr_disabled", "abi.vsyscall32",
    "crypto.fips_enabled", "crypto.fips_name", "crypto.fips_version", "debug.exception-trace",
    "debug.kprobes-optimization", "dev.cdrom.autoclose", "dev.cdrom.autoeject",
    "dev.cdrom.check_media", "dev.cdrom.debug", "dev.cdrom.info", "dev.cdrom.lock",
    "dev.hpet.max-user-freq", "dev.i915.oa_max_sample_rate", "dev.i915.perf_stream_paranoid",
    "dev.mac_hid.mouse_button2_keycode", "dev.mac_hid.mouse_button3_keycode",
    "dev.mac_hid.mouse_button_emulation", "dev.parport.default.spintime",
    "dev.parport.default.timeslice", "dev.raid.speed_limit_max", "dev.raid.speed_limit_min",
    "dev.rtc.max-user-freq", "dev.scsi.logging_level", "dev.tty.ldisc_autoload",
    "dev.tty.legacy_tiocsti", "dev.xe.observation_paranoid", "fs.aio-max-nr", "fs.aio-nr",
    "fs.binfmt_misc.register", "fs.binfmt_misc.status", "fs.dentry-negative", "fs.dentry-state",
    "fs.dir-notify-enable", "fs.dquot-max", "fs.dquot-nr", "fs.epoll.max_user_watches",
    "fs.fanotify.max_queued_events", "fs.fanotify.max_user_groups", "fs.fanotify.max_user_marks",
    "fs.fanotify.watchdog_timeout", "fs.file-max", "fs.file-nr", "fs.fuse.default_request_timeout",
    "fs.fuse.max_pages_limit", "fs.fuse.max_request_timeout", "fs.fuse.max_user_bgreq",
    "fs.inode-nr", "fs.inode-state", "fs.inotify.max_queued_events",
    "fs.inotify.max_user_instances", "fs.inotify.max_user_watches", "fs.lease-break-time",
    "fs.leases-enable", "fs.may_detach_mounts", "fs.mount-max", "fs.mqueue.msg_default",
    "fs.mqueue.msg_max", "fs.mqueue.msgsize_default", "fs.mqueue.msgsize_max",
    "fs.mqueue.queues_max", "fs.negative-dentry-limit", "fs.nfs.idmap_cache_timeout",
    "fs.nfs.mount_timeout", "fs.nfs.nfs_callback_tcpport", "fs.nfs.nfs_congestion_kb",
    "fs.nfs.nfs_mountpoint_timeout", "fs.nfs.nlm_grace_period", "fs.nfs.nlm_tcpport",
    "fs.nfs.nlm_timeout", "fs.nfs.nlm_udpport", "fs.nfs.nsm_local_state",
    "fs.nfs.nsm_use_hostnames", "fs.nr_open", "fs.overflowgid", "fs.overflowuid",
    "fs.pipe-max-size", "fs.pipe-user-pages-hard", "fs.pipe-user-pages-soft", "fs.protected_fifos",
    "fs.protected_hardlinks", "fs.protected_regular", "fs.protected_symlinks",
    "fs.quota.allocated_dquots", "fs.quota.cache_hits", "fs.quota.drops", "fs.quota.free_dquots",
    "fs.quota.lookups", "fs.quota.reads", "fs.quota.syncs", "fs.quota.writes", "fs.suid_dumpable",
    "fs.super-max", "fs.super-nr", "fs.verity.require_signatures", "fs.xfs.error_level",
    "fs.xfs.filestream_centisecs", "fs.xfs.inherit_noatime", "fs.xfs.inherit_nodefrag",
    "fs.xfs.inherit_nodump", "fs.xfs.inherit_nosymlinks", "fs.xfs.inherit_sync",
    "fs.xfs.panic_mask", "fs.xfs.rotorstep", "fs.xfs.speculative_prealloc_lifetime",
    "fs.xfs.stats_clear", "fs.xfs.xfssyncd_centisecs", "kernel.acct", "kernel.acpi_video_flags",
    "kernel.apparmor_display_secid_mode", "kernel.apparmor_restrict_unprivileged_io_uring",
    "kernel.apparmor_restrict_unprivileged_unconfined",
    "kernel.apparmor_restrict_unprivileged_userns", "kernel.arch", "kernel.auto_msgmni",
    "kernel.bootloader_type", "kernel.bootloader_version", "kernel.bpf_stats_enabled",
    "kernel.cad_pid", "kernel.cap_last_cap", "kernel.compat-log",
    "kernel.core_file_note_size_limit", "kernel.core_modes", "kernel.core_pattern",
    "kernel.core_pipe_limit", "kernel.core_sort_vma", "kernel.core_uses_pid", "kernel.ctrl-alt-del",
    "kernel.dmesg_restrict", "kernel.domainname", "kernel.exec-shield",
    "kernel.firmware_config.force_sysfs_fallback", "kernel.firmware_config.ignore_sysfs_fallback",
    "kernel.ftrace_dump_on_oops", "kernel.ftrace_enabled", "kernel.hardlockup_all_cpu_backtrace",
    "kernel.hardlockup_panic", "kernel.hardlockup_sys_info", "kernel.hostname", "kernel.hotplug",
    "kernel.hung_task_all_cpu_backtrace", "kernel.hung_task_check_count",
    "kernel.hung_task_check_interval_secs", "kernel.hung_task_detect_count",
    "kernel.hung_task_panic", "kernel.hung_task_sys_info", "kernel.hung_task_timeout_secs",
    "kernel.hung_task_warnings", "kernel.hyperv_record_panic_msg",
    "kernel.ignore-unaligned-usertrap",
    "kernel.io_delay_type", "kernel.io_uring_disabled", "kernel.io_uring_group",
    "kernel.kexec_load_disabled", "kernel.kexec_load_limit_panic", "kernel.kexec_load_limit_reboot",
    "kernel.keys.gc_delay", "kernel.keys.maxbytes", "kernel.keys.maxkeys",
    "kernel.keys.persistent_keyring_expiry", "kernel.keys.root_maxbytes",
    "kernel.keys.root_maxkeys", "kernel.kptr_restrict", "kernel.kstack_depth_to_print",
    "kernel.latencytop", "kernel.loadpin.enforce", "kernel.lock_stat", "kernel.max_lock_depth",
    "kernel.max_rcu_stall_to_panic", "kernel.modprobe", "kernel.modules_disabled",
    "kernel.msg_next_id", "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.ngroups_max",
    "kernel.nmi_watchdog", "kernel.nmi_wd_lpm_factor", "kernel.ns_last_pid",
    "kernel.numa_balancing", "kernel.numa_balancing_promote_rate_limit_MBps",
    "kernel.numa_balancing_scan_delay_ms", "kernel.numa_balancing_scan_period_max_ms",
    "kernel.numa_balancing_scan_period_min_ms", "kernel.numa_balancing_scan_size_mb",
    "kernel.oops_all_cpu_backtrace", "kernel.oops_limit", "kernel.osrelease", "kernel.ostype",
    "kernel.overflowgid", "kernel.overflowuid", "kernel.panic", "kernel.panic_on_io_nmi",
    "kernel.panic_on_oops", "kernel.panic_on_rcu_stall", "kernel.panic_on_stackoverflow",
    "kernel.panic_on_unrecovered_nmi", "kernel.panic_on_warn", "kernel.panic_print",
    "kernel.panic_sys_info", "kernel.perf_cpu_time_max_percent",
    "kernel.perf_event_max_contexts_per_stack", "kernel.perf_event_max_sample_rate",
    "kernel.perf_event_max_stack", "kernel.perf_event_mlock_kb", "kernel.perf_event_paranoid",
    "kernel.perf_user_access", "kernel.pid_max", "kernel.poweroff_cmd", "kernel.powersave-nap",
    "kernel.print-fatal-signals", "kernel.printk", "kernel.printk_delay", "kernel.printk_devkmsg",
    "kernel.printk_ratelimit", "kernel.printk_ratelimit_burst", "kernel.prove_locking",
    "kernel.pty.max", "kernel.pty.nr", "kernel.pty.reserve", "kernel.random.boot_id",
    "kernel.random.entropy_avail", "kernel.random.poolsize",
    "kernel.random.urandom_min_reseed_secs", "kernel.random.uuid",
    "kernel.random.write_wakeup_threshold", "kernel.randomize_va_space", "kernel.real-root-dev",
    "kernel.reboot-cmd", "kernel.rtsig-max", "kernel.rtsig-nr", "kernel.sched_autogroup_enabled",
    "kernel.sched_cfs_bandwidth_slice_us", "kernel.sched_child_runs_first", "kernel.sched_cluster",
    "kernel.sched_compat_yield", "kernel.sched_deadline_period_max_us",
    "kernel.sched_deadline_period_min_us", "kernel.sched_energy_aware", "kernel.sched_itmt_enabled",
    "kernel.sched_latency_ns", "kernel.sched_migration_cost_ns", "kernel.sched_min_granularity_ns",
    "kernel.sched_nr_migrate", "kernel.sched_relax_domain_level", "kernel.sched_rr_timeslice_ms",
    "kernel.sched_rt_period_us", "kernel.sched_rt_runtime_us", "kernel.sched_schedstats",
    "kernel.sched_shares_window_ns", "kernel.sched_time_avg_ms", "kernel.sched_tunable_scaling",
    "kernel.sched_util_clamp_max", "kernel.sched_util_clamp_min",
    "kernel.sched_util_clamp_min_rt_default", "kernel.sched_wakeup_granularity_ns",
    "kernel.seccomp.actions_avail", "kernel.seccomp.actions_logged", "kernel.sem",
    "kernel.sem_next_id", "kernel.sg-big-buff", "kernel.shm_next_id", "kernel.shm_rmid_forced",
    "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.soft_watchdog",
    "kernel.softlockup_all_cpu_backtrace", "kernel.softlockup_panic", "kernel.softlockup_sys_info",
    "kernel.spin_retry", "kernel.split_lock_mitigate", "kernel.stack_erasing",
    "kernel.stack_tracer_enabled", "kernel.stop-a", "kernel.sysctl_writes_strict", "kernel.sysrq",
    "kernel.tainted", "kernel.task_delayacct", "kernel.threads-max", "kernel.timer_migration",
    "kernel.traceoff_after_boot", "kernel.traceoff_on_warning", "kernel.tracepoint_printk",
    "kernel.unaligned-dump-stack", "kernel.unaligned-trap", "kernel.unknown_nmi_panic",
    "kernel.unprivileged_bpf_disabled", "kernel.unprivileged_userns_apparmor_policy",
    "kernel.unprivileged_userns_clone", "kernel.user_events_max", "kernel.usermodehelper.bset",
    "kernel.usermodehelper.inheritable", "kernel.version", "kernel.vsyscall64", "kernel.warn_limit",
    "kernel.watchdog", "kernel.watchdog_cpumask", "kernel.watchdog_thresh",
    "kernel.yama.ptrace_scope", "net.bridge.bridge-nf-call-arptables",
    "net.bridge.bridge-nf-call-ip6tables", "net.bridge.bridge-nf-call-iptables",
    "net.bridge.bridge-nf-filter-pppoe-tagged", "net.bridge.bridge-nf-filter-vlan-tagged",
    "net.bridge.bridge-nf-pass-vlan-input-dev", "net.core.bpf_jit_enable",
    "net.core.bpf_jit_harden", "net.core.bpf_jit_kallsyms", "net.core.bpf_jit_limit",
    "net.core.busy_poll", "net.core.busy_read", "net.core.default_qdisc", "net.core.dev_weight",
    "net.core.dev_weight_rx_bias", "net.core.dev_weight_tx_bias",
    "net.core.devconf_inherit_init_net", "net.core.fb_tunnels_only_for_init_net",
    "net.core.flow_limit_cpu_bitmap", "net.core.flow_limit_table_len", "net.core.gro_normal_batch",
    "net.core.high_order_alloc_disable", "net.core.max_skb_frags", "net.core.mem_pcpu_rsv",
    "net.core.message_burst", "net.core.message_cost", "net.core.netdev_budget",
    "net.core.netdev_budget_usecs", "net.core.netdev_max_backlog",
    "net.core.netdev_qdisc_max_burst", "net.core.netdev_rss_key", "net.core.netdev_tstamp_prequeue",
    "net.core.netdev_unregister_timeout_secs", "net.core.optmem_max", "net.core.rmem_default",
    "net.core.rmem_max", "net.core.rps_default_mask", "net.core.rps_sock_flow_entries",
    "net.core.skb_defer_max", "net.core.somaxconn", "net.core.tstamp_allow_data",
    "net.core.txrehash", "net.core.warnings", "net.core.wmem_default", "net.core.wmem_max",
    "net.core.xfrm_acq_expires", "net.core.xfrm_aevent_etime", "net.core.xfrm_aevent_rseqth",
    "net.core.xfrm_larval_drop", "net.ipv4.cipso_cache_bucket_size", "net.ipv4.cipso_cache_enable",
    "net.ipv4.cipso_rbm_optfmt", "net.ipv4.cipso_rbm_strictvalid", "net.ipv4.conf.*.accept_local",
    "net.ipv4.conf.*.accept_redirects", "net.ipv4.conf.*.accept_source_route",
    "net.ipv4.conf.*.arp_accept", "net.ipv4.conf.*.arp_announce",
    "net.ipv4.conf.*.arp_evict_nocarrier", "net.ipv4.conf.*.arp_filter",
    "net.ipv4.conf.*.arp_ignore", "net.ipv4.conf.*.arp_notify", "net.ipv4.conf.*.bc_forwarding",
    "net.ipv4.conf.*.bootp_relay", "net.ipv4.conf.*.disable_policy", "net.ipv4.conf.*.disable_xfrm",
    "net.ipv4.conf.*.drop_gratuitous_arp", "net.ipv4.conf.*.drop_unicast_in_l2_multicast",
    "net.ipv4.conf.*.force_igmp_version", "net.ipv4.conf.*.forwarding",
    "net.ipv4.conf.*.igmpv2_unsolicited_report_interval",
    "net.ipv4.conf.*.igmpv3_unsolicited_report_interval",
    "net.ipv4.conf.*.ignore_routes_with_linkdown", "net.ipv4.conf.*.log_martians",
    "net.ipv4.conf.*.mc_forwarding", "net.ipv4.conf.*.medium_id",
    "net.ipv4.conf.*.promote_secondaries", "net.ipv4.conf.*.proxy_arp",
    "net.ipv4.conf.*.proxy_arp_pvlan", "net.ipv4.conf.*.route_localnet",
    "net.ipv4.conf.*.rp_filter", "net.ipv4.conf.*.secure_redirects",
    "net.ipv4.conf.*.send_redirects", "net.ipv4.conf.*.shared_media",
    "net.ipv4.conf.*.src_valid_mark", "net.ipv4.conf.*.tag", "net.ipv4.fib_multipath_hash_fields",
    "net.ipv4.fib_multipath_hash_policy", "net.ipv4.fib_multipath_hash_seed",
    "net.ipv4.fib_multipath_use_neigh", "net.ipv4.fib_notify_on_flag_change",
    "net.ipv4.fib_sync_mem", "net.ipv4.fwmark_reflect", "net.ipv4.icmp_echo_enable_probe",
    "net.ipv4.icmp_echo_ignore_all", "net.ipv4.icmp_echo_ignore_broadcasts",
    "net.ipv4.icmp_errors_use_inbound_ifaddr", "net.ipv4.icmp_ignore_bogus_error_responses",
    "net.ipv4.icmp_msgs_burst", "net.ipv4.icmp_msgs_per_sec", "net.ipv4.icmp_ratelimit",
    "net.ipv4.icmp_ratemask", "net.ipv4.igmp_link_local_mcast_reports",
    "net.ipv4.igmp_max_memberships", "net.ipv4.igmp_max_msf", "net.ipv4.igmp_qrv",
    "net.ipv4.inet_peer_gc_maxtime", "net.ipv4.inet_peer_gc_mintime", "net.ipv4.inet_peer_maxttl",
    "net.ipv4.inet_peer_minttl", "net.ipv4.inet_peer_threshold", "net.ipv4.ip_autobind_reuse",
    "net.ipv4.ip_conntrack_max", "net.ipv4.ip_default_ttl", "net.ipv4.ip_dynaddr",
    "net.ipv4.ip_early_demux", "net.ipv4.ip_forward", "net.ipv4.ip_forward_update_priority",
    "net.ipv4.ip_forward_use_pmtu", "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports", "net.ipv4.ip_no_pmtu_disc", "net.ipv4.ip_nonlocal_bind",
    "net.ipv4.ip_unprivileged_port_start", "net.ipv4.ipfrag_high_thresh",
    "net.ipv4.ipfrag_low_thresh", "net.ipv4.ipfrag_max_dist", "net.ipv4.ipfrag_secret_interval",
    "net.ipv4.ipfrag_time", "net.ipv4.neigh.*.anycast_delay", "net.ipv4.neigh.*.app_solicit",
    "net.ipv4.neigh.*.base_reachable_time", "net.ipv4.neigh.*.base_reachable_time_ms",
    "net.ipv4.neigh.*.delay_first_probe_time", "net.ipv4.neigh.*.gc_interval",
    "net.ipv4.neigh.*.gc_stale_time", "net.ipv4.neigh.*.gc_thresh1", "net.ipv4.neigh.*.gc_thresh2",
    "net.ipv4.neigh.*.gc_thresh3", "net.ipv4.neigh.*.interval_probe_time_ms",
    "net.ipv4.neigh.*.locktime", "net.ipv4.neigh.*.mcast_resolicit",
    "net.ipv4.neigh.*.mcast_solicit", "net.ipv4.neigh.*.proxy_delay", "net.ipv4.neigh.*.proxy_qlen",
    "net.ipv4.neigh.*.retrans_time", "net.ipv4.neigh.*.retrans_time_ms",
    "net.ipv4.neigh.*.ucast_solicit", "net.ipv4.neigh.*.unres_qlen",
    "net.ipv4.neigh.*.unres_qlen_bytes", "net.ipv4.netfilter.ip_conntrack_max",
    "net.ipv4.nexthop_compat_mode", "net.ipv4.ping_group_range", "net.ipv4.raw_l3mdev_accept",
    "net.ipv4.route.error_burst", "net.ipv4.route.error_cost", "net.ipv4.route.flush",
    "net.ipv4.route.gc_elasticity", "net.ipv4.route.gc_interval", "net.ipv4.route.gc_min_interval",
    "net.ipv4.route.gc_min_interval_ms", "net.ipv4.route.gc_thresh", "net.ipv4.route.gc_timeout",
    "net.ipv4.route.max_size", "net.ipv4.route.min_adv_mss", "net.ipv4.route.min_pmtu",
    "net.ipv4.route.mtu_expires", "net.ipv4.route.redirect_load", "net.ipv4.route.redirect_number",
    "net.ipv4.route.redirect_silence", "net.ipv4.rt_cache_rebuild_count", "net.ipv4.tcp_abc",
    "net.ipv4.tcp_abort_on_overflow", "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_allowed_congestion_control", "net.ipv4.tcp_app_win", "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_available_congestion_control", "net.ipv4.tcp_available_ulp",
    "net.ipv4.tcp_backlog_ack_defer", "net.ipv4.tcp_base_mss", "net.ipv4.tcp_challenge_ack_limit",
    "net.ipv4.tcp_child_ehash_entries", "net.ipv4.tcp_comp_sack_delay_ns",
    "net.ipv4.tcp_comp_sack_nr", "net.ipv4.tcp_comp_sack_slack_ns",
    "net.ipv4.tcp_congestion_control", "net.ipv4.tcp_cookie_size", "net.ipv4.tcp_dma_copybreak",
    "net.ipv4.tcp_dsack", "net.ipv4.tcp_early_demux", "net.ipv4.tcp_early_retrans",
    "net.ipv4.tcp_ecn", "net.ipv4.tcp_ecn_fallback", "net.ipv4.tcp_ecn_option",
    "net.ipv4.tcp_ecn_option_beacon", "net.ipv4.tcp_ehash_entries", "net.ipv4.tcp_fack",
    "net.ipv4.tcp_fastopen", "net.ipv4.tcp_fastopen_blackhole_timeout_sec",
    "net.ipv4.tcp_fastopen_key", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_frto",
    "net.ipv4.tcp_frto_response", "net.ipv4.tcp_fwmark_accept", "net.ipv4.tcp_invalid_ratelimit",
    "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_l3mdev_accept", "net.ipv4.tcp_limit_output_bytes", "net.ipv4.tcp_low_latency",
    "net.ipv4.tcp_max_orphans", "net.ipv4.tcp_max_reordering", "net.ipv4.tcp_max_ssthresh",
    "net.ipv4.tcp_max_syn_backlog", "net.ipv4.tcp_max_tw_buckets", "net.ipv4.tcp_mem",
    "net.ipv4.tcp_migrate_req", "net.ipv4.tcp_min_rtt_wlen", "net.ipv4.tcp_min_snd_mss",
    "net.ipv4.tcp_min_tso_segs", "net.ipv4.tcp_moderate_rcvbuf", "net.ipv4.tcp_mtu_probe_floor",
    "net.ipv4.tcp_mtu_probing", "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_no_ssthresh_metrics_save", "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_orphan_retries", "net.ipv4.tcp_pacing_ca_ratio", "net.ipv4.tcp_pacing_ss_ratio",
    "net.ipv4.tcp_pingpong_thresh", "net.ipv4.tcp_plb_cong_thresh", "net.ipv4.tcp_plb_enabled",
    "net.ipv4.tcp_plb_idle_rehash_rounds", "net.ipv4.tcp_plb_rehash_rounds",
    "net.ipv4.tcp_plb_suspend_rto_sec", "net.ipv4.tcp_probe_interval",
    "net.ipv4.tcp_probe_threshold", "net.ipv4.tcp_recovery", "net.ipv4.tcp_reflect_tos",
    "net.ipv4.tcp_reordering", "net.ipv4.tcp_retrans_collapse", "net.ipv4.tcp_retries1",
    "net.ipv4.tcp_retries2", "net.ipv4.tcp_rfc1337", "net.ipv4.tcp_rmem", "net.ipv4.tcp_rto_max_ms",
    "net.ipv4.tcp_rto_min_us", "net.ipv4.tcp_sack", "net.ipv4.tcp_shrink_window",
    "net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_stdurg", "net.ipv4.tcp_syn_linear_timeouts",
    "net.ipv4.tcp_syn_retries", "net.ipv4.tcp_synack_retries", "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_thin_linear_timeouts", "net.ipv4.tcp_timestamps", "net.ipv4.tcp_tso_rtt_log",
    "net.ipv4.tcp_tso_win_divisor", "net.ipv4.tcp_tw_recycle", "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_tw_reuse_delay", "net.ipv4.tcp_window_scaling", "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_workaround_signed_windows", "net.ipv4.udp_child_hash_entries",
    "net.ipv4.udp_early_demux", "net.ipv4.udp_hash_entries", "net.ipv4.udp_l3mdev_accept",
    "net.ipv4.udp_mem", "net.ipv4.udp_rmem_min", "net.ipv4.udp_wmem_min", "net.ipv4.vs.am_droprate",
    "net.ipv4.vs.amemthresh", "net.ipv4.vs.backup_only", "net.ipv4.vs.cache_bypass",
    "net.ipv4.vs.conn_reuse_mode", "net.ipv4.vs.conntrack", "net.ipv4.vs.debug_level",
    "net.ipv4.vs.drop_entry", "net.ipv4.vs.drop_packet", "net.ipv4.vs.expire_nodest_conn",
    "net.ipv4.vs.expire_quiescent_template", "net.ipv4.vs.ignore_tunneled",
    "net.ipv4.vs.nat_icmp_send", "net.ipv4.vs.pmtu_disc", "net.ipv4.vs.run_estimation",
    "net.ipv4.vs.secure_tcp", "net.ipv4.vs.snat_reroute", "net.ipv4.vs.sync_persist_mode",
    "net.ipv4.vs.sync_ports", "net.ipv4.vs.sync_qlen_max", "net.ipv4.vs.sync_refresh_period",
    "net.ipv4.vs.sync_retries", "net.ipv4.vs.sync_sock_size", "net.ipv4.vs.sync_threshold",
    "net.ipv4.vs.sync_version", "net.ipv4.xfrm4_gc_thresh", "net.ipv6.anycast_src_echo_reply",
    "net.ipv6.auto_flowlabels", "net.ipv6.bindv6only", "net.ipv6.calipso_cache_bucket_size",
    "net.ipv6.calipso_cache_enable", "net.ipv6.conf.*.accept_dad", "net.ipv6.conf.*.accept_ra",
    "net.ipv6.conf.*.accept_ra_defrtr", "net.ipv6.conf.*.accept_ra_from_local",
    "net.ipv6.conf.*.accept_ra_min_hop_limit", "net.ipv6.conf.*.accept_ra_min_lft",
    "net.ipv6.conf.*.accept_ra_mtu", "net.ipv6.conf.*.accept_ra_pinfo",
    "net.ipv6.conf.*.accept_ra_rt_info_max_plen", "net.ipv6.conf.*.accept_ra_rt_info_min_plen",
    "net.ipv6.conf.*.accept_ra_rtr_pref", "net.ipv6.conf.*.accept_redirects",
    "net.ipv6.conf.*.accept_source_route", "net.ipv6.conf.*.accept_untracked_na",
    "net.ipv6.conf.*.addr_gen_mode", "net.ipv6.conf.*.autoconf", "net.ipv6.conf.*.dad_transmits",
    "net.ipv6.conf.*.disable_ipv6", "net.ipv6.conf.*.disable_policy",
    "net.ipv6.conf.*.drop_unicast_in_l2_multicast", "net.ipv6.conf.*.drop_unsolicited_na",
    "net.ipv6.conf.*.enhanced_dad", "net.ipv6.conf.*.force_forwarding",
    "net.ipv6.conf.*.force_mld_version", "net.ipv6.conf.*.force_tllao",
    "net.ipv6.conf.*.forwarding", "net.ipv6.conf.*.hop_limit",
    "net.ipv6.conf.*.ignore_routes_with_linkdown", "net.ipv6.conf.*.ioam6_enabled",
    "net.ipv6.conf.*.ioam6_id", "net.ipv6.conf.*.ioam6_id_wide",
    "net.ipv6.conf.*.keep_addr_on_down", "net.ipv6.conf.*.max_addresses",
    "net.ipv6.conf.*.max_desync_factor", "net.ipv6.conf.*.mc_forwarding",
    "net.ipv6.conf.*.mldv1_unsolicited_report_interval",
    "net.ipv6.conf.*.mldv2_unsolicited_report_interval", "net.ipv6.conf.*.mtu",
    "net.ipv6.conf.*.ndisc_evict_nocarrier", "net.ipv6.conf.*.ndisc_notify",
    "net.ipv6.conf.*.ndisc_tclass", "net.ipv6.conf.*.optimistic_dad", "net.ipv6.conf.*.proxy_ndp",
    "net.ipv6.conf.*.ra_defrtr_metric", "net.ipv6.conf.*.ra_honor_pio_life",
    "net.ipv6.conf.*.ra_honor_pio_pflag", "net.ipv6.conf.*.regen_max_retry",
    "net.ipv6.conf.*.regen_min_advance", "net.ipv6.conf.*.router_probe_interval",
    "net.ipv6.conf.*.router_solicitation_delay", "net.ipv6.conf.*.router_solicitation_interval",
    "net.ipv6.conf.*.router_solicitation_max_interval", "net.ipv6.conf.*.router_solicitations",
    "net.ipv6.conf.*.rpl_seg_enabled", "net.ipv6.conf.*.seg6_enabled",
    "net.ipv6.conf.*.seg6_require_hmac", "net.ipv6.conf.*.stable_secret",
    "net.ipv6.conf.*.suppress_frag_ndisc", "net.ipv6.conf.*.temp_prefered_lft",
    "net.ipv6.conf.*.temp_valid_lft", "net.ipv6.conf.*.use_oif_addrs_only",
    "net.ipv6.conf.*.use_optimistic", "net.ipv6.conf.*.use_tempaddr",
    "net.ipv6.fib_multipath_hash_fields", "net.ipv6.fib_multipath_hash_policy",
    "net.ipv6.fib_notify_on_flag_change", "net.ipv6.flowlabel_consistency",
    "net.ipv6.flowlabel_reflect", "net.ipv6.flowlabel_state_ranges", "net.ipv6.fwmark_reflect",
    "net.ipv6.icmp.echo_ignore_all", "net.ipv6.icmp.echo_ignore_anycast",
    "net.ipv6.icmp.echo_ignore_multicast", "net.ipv6.icmp.error_anycast_as_unicast",
    "net.ipv6.icmp.ratelimit", "net.ipv6.icmp.ratemask", "net.ipv6.idgen_delay",
    "net.ipv6.idgen_retries", "net.ipv6.ioam6_id", "net.ipv6.ioam6_id_wide",
    "net.ipv6.ip6frag_high_thresh", "net.ipv6.ip6frag_low_thresh",
    "net.ipv6.ip6frag_secret_interval", "net.ipv6.ip6frag_time", "net.ipv6.ip_nonlocal_bind",
    "net.ipv6.max_dst_opts_length", "net.ipv6.max_dst_opts_number", "net.ipv6.max_hbh_length",
    "net.ipv6.max_hbh_opts_number", "net.ipv6.mld_max_msf", "net.ipv6.mld_qrv",
    "net.ipv6.neigh.*.anycast_delay", "net.ipv6.neigh.*.app_solicit",
    "net.ipv6.neigh.*.base_reachable_time", "net.ipv6.neigh.*.base_reachable_time_ms",
    "net.ipv6.neigh.*.delay_first_probe_time", "net.ipv6.neigh.*.gc_interval",
    "net.ipv6.neigh.*.gc_stale_time", "net.ipv6.neigh.*.gc_thresh1", "net.ipv6.neigh.*.gc_thresh2",
    "net.ipv6.neigh.*.gc_thresh3", "net.ipv6.neigh.*.interval_probe_time_ms",
    "net.ipv6.neigh.*.locktime", "net.ipv6.neigh.*.mcast_resolicit",
    "net.ipv6.neigh.*.mcast_solicit", "net.ipv6.neigh.*.proxy_delay", "net.ipv6.neigh.*.proxy_qlen",
    "net.ipv6.neigh.*.retrans_time", "net.ipv6.neigh.*.retrans_time_ms",
    "net.ipv6.neigh.*.ucast_solicit", "net.ipv6.neigh.*.unres_qlen",
    "net.ipv6.neigh.*.unres_qlen_bytes", "net.ipv6.route.flush", "net.ipv6.route.gc_elasticity",
    "net.ipv6.route.gc_interval", "net.ipv6.route.gc_min_interval",
    "net.ipv6.route.gc_min_interval_ms", "net.ipv6.route.gc_thresh", "net.ipv6.route.gc_timeout",
    "net.ipv6.route.max_size", "net.ipv6.route.min_adv_mss", "net.ipv6.route.mtu_expires",
    "net.ipv6.route.skip_notify_on_dev_down", "net.ipv6.seg6_flowlabel", "net.ipv6.xfrm6_gc_thresh",
    "net.iw_cm.default_backlog", "net.mpls.default_ttl", "net.mpls.ip_ttl_propagate",
    "net.mpls.platform_labels", "net.mptcp.add_addr_timeout",
    "net.mptcp.allow_join_initial_addr_port", "net.mptcp.available_path_managers",
    "net.mptcp.available_schedulers", "net.mptcp.blackhole_timeout", "net.mptcp.checksum_enabled",
    "net.mptcp.close_timeout", "net.mptcp.enabled", "net.mptcp.path_manager", "net.mptcp.pm_type",
    "net.mptcp.scheduler", "net.mptcp.stale_loss_cnt", "net.mptcp.syn_retrans_before_tcp_fallback",
    "net.netfilter.nf_conntrack_acct", "net.netfilter.nf_conntrack_buckets",
    "net.netfilter.nf_conntrack_checksum", "net.netfilter.nf_conntrack_count",
    "net.netfilter.nf_conntrack_events", "net.netfilter.nf_conntrack_expect_max",
    "net.netfilter.nf_conntrack_frag6_high_thresh", "net.netfilter.nf_conntrack_frag6_low_thresh",
    "net.netfilter.nf_conntrack_frag6_timeout", "net.netfilter.nf_conntrack_generic_timeout",
    "net.netfilter.nf_conntrack_gre_timeout", "net.netfilter.nf_conntrack_gre_timeout_stream",
    "net.netfilter.nf_conntrack_helper", "net.netfilter.nf_conntrack_icmp_timeout",
    "net.netfilter.nf_conntrack_icmpv6_timeout", "net.netfilter.nf_conntrack_log_invalid",
    "net.netfilter.nf_conntrack_max", "net.netfilter.nf_conntrack_sctp_timeout_closed",
    "net.netfilter.nf_conntrack_sctp_timeout_cookie_echoed",
    "net.netfilter.nf_conntrack_sctp_timeout_cookie_wait",
    "net.netfilter.nf_conntrack_sctp_timeout_established",
    "net.netfilter.nf_conntrack_sctp_timeout_heartbeat_sent",
    "net.netfilter.nf_conntrack_sctp_timeout_shutdown_ack_sent",
    "net.netfilter.nf_conntrack_sctp_timeout_shutdown_recd",
    "net.netfilter.nf_conntrack_sctp_timeout_shutdown_sent",
    "net.netfilter.nf_conntrack_tcp_be_liberal",
    "net.netfilter.nf_conntrack_tcp_ignore_invalid_rst", "net.netfilter.nf_conntrack_tcp_loose",
    "net.netfilter.nf_conntrack_tcp_max_retrans", "net.netfilter.nf_conntrack_tcp_timeout_close",
    "net.netfilter.nf_conntrack_tcp_timeout_close_wait",
    "net.netfilter.nf_conntrack_tcp_timeout_established",
    "net.netfilter.nf_conntrack_tcp_timeout_fin_wait",
    "net.netfilter.nf_conntrack_tcp_timeout_last_ack",
    "net.netfilter.nf_conntrack_tcp_timeout_max_retrans",
    "net.netfilter.nf_conntrack_tcp_timeout_syn_recv",
    "net.netfilter.nf_conntrack_tcp_timeout_syn_sent",
    "net.netfilter.nf_conntrack_tcp_timeout_time_wait",
    "net.netfilter.nf_conntrack_tcp_timeout_unacknowledged", "net.netfilter.nf_conntrack_timestamp",
    "net.netfilter.nf_conntrack_udp_timeout", "net.netfilter.nf_conntrack_udp_timeout_stream",
    "net.netfilter.nf_flowtable_tcp_timeout", "net.netfilter.nf_flowtable_udp_timeout",
    "net.netfilter.nf_hooks_lwtunnel", "net.netfilter.nf_log.0", "net.netfilter.nf_log.1",
    "net.netfilter.nf_log.10", "net.netfilter.nf_log.2", "net.netfilter.nf_log.3",
    "net.netfilter.nf_log.4", "net.netfilter.nf_log.5", "net.netfilter.nf_log.6",
    "net.netfilter.nf_log.7", "net.netfilter.nf_log.8", "net.netfilter.nf_log.9",
    "net.netfilter.nf_log_all_netns", "net.nf_conntrack_max", "net.rdma_ucm.max_backlog",
    "net.rds.connection_reconnect_delay_max_ms", "net.sctp.addip_enable",
    "net.sctp.addip_noauth_enable", "net.sctp.addr_scope_policy",
    "net.sctp.association_max_retrans", "net.sctp.auth_enable", "net.sctp.cookie_hmac_alg",
    "net.sctp.cookie_preserve_enable", "net.sctp.ecn_enable", "net.sctp.encap_port",
    "net.sctp.hb_interval", "net.sctp.intl_enable", "net.sctp.max_burst",
    "net.sctp.max_init_retransmits", "net.sctp.path_max_retrans", "net.sctp.pf_enable",
    "net.sctp.pf_expose", "net.sctp.pf_retrans", "net.sctp.plpmtud_probe_interval",
    "net.sctp.prsctp_enable", "net.sctp.ps_retrans", "net.sctp.rcvbuf_policy",
    "net.sctp.reconf_enable", "net.sctp.rto_initial", "net.sctp.rto_max", "net.sctp.rto_min",
    "net.sctp.sack_timeout", "net.sctp.sctp_mem", "net.sctp.sctp_rmem", "net.sctp.sctp_wmem",
    "net.sctp.sndbuf_policy", "net.sctp.udp_port", "net.sctp.valid_cookie_life",
    "net.smc.autocorking_size", "net.smc.rmem", "net.smc.smcr_buf_type",
    "net.smc.smcr_testlink_time", "net.smc.wmem", "net.unix.max_dgram_qlen", "net.vrf.strict_mode",
    "sunrpc.max_resvport", "sunrpc.min_resvport", "sunrpc.nfs_debug", "sunrpc.nfsd_debug",
    "sunrpc.nlm_debug", "sunrpc.rdma_max_inline_read", "sunrpc.rdma_max_inline_write",
    "sunrpc.rdma_memreg_strategy", "sunrpc.rdma_pad_optimize", "sunrpc.rdma_slot_table_entries",
    "sunrpc.rpc_debug", "sunrpc.svc_rdma.max_requests", "sunrpc.svc_rdma.ord",
    "sunrpc.tcp_fin_timeout", "sunrpc.tcp_max_slot_table_entries", "sunrpc.tcp_slot_table_entries",
    "sunrpc.transports", "sunrpc.udp_slot_table_entries", "user.max_cgroup_namespaces",
    "user.max_fanotify_groups", "user.max_fanotify_marks", "user.max_inotify_instances",
    "user.max_inotify_watches", "user.max_ipc_namespaces", "user.max_mnt_namespaces",
    "user.max_net_namespaces", "user.max_pid_namespaces", "user.max_time_namespaces",
    "user.max_user_namespaces", "user.max_uts_namespaces", "vm.admin_reserve_kbytes",
    "vm.anon_min_ratio", "vm.block_dump", "vm.clean_low_ratio", "vm.clean_min_ratio",
    "vm.cmm_timed_pages", "vm.cmm_timeout", "vm.compact_memory", "vm.compact_unevictable_allowed",
    "vm.compaction_proactiveness", "vm.defrag_mode", "vm.dirty_background_bytes",
    "vm.dirty_background_ratio", "vm.dirty_bytes", "vm.dirty_expire_centisecs", "vm.dirty_ratio",
    "vm.dirty_writeback_centisecs", "vm.dirtytime_expire_seconds", "vm.drop_caches",
    "vm.enable_soft_offline", "vm.extfrag_threshold", "vm.heap_stack_gap",
    "vm.highmem_is_dirtyable", "vm.hugepages_treat_as_movable", "vm.hugetlb_optimize_vmemmap",
    "vm.hugetlb_shm_group", "vm.laptop_mode", "vm.legacy_va_layout", "vm.lowmem_reserve_ratio",
    "vm.max_map_count", "vm.memfd_noexec", "vm.memory_failure_early_kill",
    "vm.memory_failure_recovery", "vm.min_free_kbytes", "vm.min_slab_ratio",
    "vm.min_unmapped_ratio", "vm.mmap_min_addr", "vm.mmap_rnd_bits", "vm.mmap_rnd_compat_bits",
    "vm.movable_gigantic_pages", "vm.nr_hugepages", "vm.nr_hugepages_mempolicy",
    "vm.nr_overcommit_hugepages", "vm.nr_pdflush_threads", "vm.nr_trim_pages", "vm.numa_stat",
    "vm.numa_zonelist_order", "vm.oom_dump_tasks", "vm.oom_kill_allocating_task",
    "vm.overcommit_kbytes", "vm.overcommit_memory", "vm.overcommit_ratio", "vm.page-cluster",
    "vm.page_lock_unfairness", "vm.panic_on_oom", "vm.percpu_pagelist_fraction",
    "vm.percpu_pagelist_high_fraction", "vm.scan_unevictable_pages",
    "vm.shrink_inodes_with_pagecache", "vm.stat_interval", "vm.stat_refresh",
    "vm.swap_token_timeout", "vm.swappiness", "vm.unprivileged_userfaultfd",
    "vm.user_reserve_kbytes", "vm.vdso_enabled", "vm.vfs_cache_pressure",
    "vm.vfs_cache_pressure_denom", "vm.watermark_boost_factor", "vm.watermark_scale_factor",
    "vm.workingset_protection", "vm.zone_reclaim_mode",
    // clang-format on
});

static_assert(std::ranges::is_sorted(kNames));

/// Below these the next part names an interface.
constexpr std::array<std::string_view, 4> kPerInterface = {"net.ipv4.conf.", "net.ipv4.neigh.",
                                                           "net.ipv6.conf.", "net.ipv6.neigh."};

/// A name in three pieces, the middle one an interface or empty.
struct Pieces {
  std::string_view head;
  std::string_view interface;
  std::string_view tail;
};

Pieces pieces(std::string_view name) {
  for (const std::string_view head : kPerInterface) {
    if (name.starts_with(head)) {
      const std::size_t dot = name.find('.', head.size());
      if (dot != std::string_view::npos) {
        return {head, name.substr(head.size(), dot - head.size()), name.substr(dot)};
      }
    }
  }
  return {name, {}, {}};
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

std::span<const std::string_view> known_sysctls() { return kNames; }

bool is_slip(std::string_view written, std::string_view real) {
  const std::size_t shorter = std::min(written.size(), real.size());
  const std::size_t longer = std::max(written.size(), real.size());
  if (longer - shorter > 1) {
    return false;
  }
  std::size_t at = 0;
  while (at < shorter && written[at] == real[at]) {
    ++at;
  }
  const auto rest = [](std::string_view text, std::size_t from) {
    return from < text.size() ? text.substr(from) : std::string_view{};
  };
  const std::string_view a = rest(written, at);
  const std::string_view b = rest(real, at);
  const bool swapped = a.size() > 1 && a.size() == b.size() && a[0] == b[1] && a[1] == b[0] &&
                       rest(a, 2) == rest(b, 2);
  const bool one = written.size() == real.size()  ? rest(a, 1) == rest(b, 1)
                   : written.size() > real.size() ? rest(a, 1) == b
                                                  : a == rest(b, 1);
  if (!swapped && !one) {
    return false;
  }
  if ((!a.empty() && !is_letter(a[0])) || (!b.empty() && !is_letter(b[0]))) {
    return false;
  }
  std::size_t first = at;  // of the word in `real`
  while (first > 0 && is_letter(real[first - 1])) {
    --first;
  }
  std::size_t end = at;
  while (end < real.size() && is_letter(real[end])) {
    ++end;
  }
  const bool replaced = !swapped && written.size() == real.size();
  const std::size_t margin = replaced ? 3 : 1;
  return end - first >= 6 && at >= first + margin && (!replaced || at + margin < end);
}

bool is_known_sysctl(std::string_view name) {
  const Pieces parts = pieces(name);
  if (parts.interface.empty()) {
    return std::ranges::binary_search(kNames, name);
  }
  return std::ranges::binary_search(kNames,
                                    std::string(parts.head) + "*" + std::string(parts.tail));
}

std::string misspelled_sysctl(std::string_view name) {
  if (is_known_sysctl(name)) {
    return {};
  }
  const Pieces parts = pieces(name);
  const std::string looked_for = parts.interface.empty()
                                     ? std::string(name)
                                     : std::string(parts.head) + "*" + std::string(parts.tail);
  for (const std::string_view known : kNames) {
    if (is_slip(looked_for, known)) {
      const std::size_t star = known.find('*');
      if (star == std::string_view::npos) {
        return std::string(known);
      }
      return std::string(known.substr(0, star)) + std::string(parts.interface) +
             std::string(known.substr(star + 1));
    }
  }
  return {};
}

}  // namespace goldenv::facts
