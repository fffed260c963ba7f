"""Mixins for the stores that a test runs on; name them before the class of tests."""
from redis_server import RedisServer


class OnDirectory:
    pass  # support.Case uses a directory


class OnRedis:
    def setUp(self):
        super().setUp()
        self.server = RedisServer(self)
        self.redis = self.server.client()
        self.store = self.server.url

    def places(self, name="lock"):
        """Overrides support.Case."""
        key = f"holdfast:{{{name}}}"
        return self.redis.exists(key) + self.redis.zcard(key + ":q")
