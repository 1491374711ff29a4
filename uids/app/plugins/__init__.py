"""``uids plugins check`` and ``uids plugins new``, and the plugin of pytest: the tools of whoever
writes a component."""
