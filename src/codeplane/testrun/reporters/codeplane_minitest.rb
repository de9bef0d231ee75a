# Tells CodePlane of each test while Minitest runs: one JSON object a line. Loaded with `ruby -r`.
require "json"
require "minitest"

module CodePlane
  LONGEST = 6000

  class Lines < Minitest::AbstractReporter
    def initialize
      super()
      @file = File.open(ENV.fetch("CODEPLANE_REPORT"), "a")
      @root = File.realpath(ENV.fetch("CODEPLANE_ROOT"))
      @here = File.realpath(Dir.pwd)
    end

    def prerecord(klass, name)
      write(e: "start", id: id(klass.name, name), file: source(klass, name))
    end

    def record(result)
      failure = result.failure
      line = { e: "case", id: id(result.klass, result.name), status: status(result), seconds: result.time }
      line[:file] = within(result.source_location[0], @here) if result.respond_to?(:source_location)
      line.merge!(told(failure)) if failure && !result.skipped?
      write(line)
    end

    def report
      write(e: "end")
    end

    def passed?
      true
    end

    private

    def id(group, name)
      "#{group}##{name}"
    end

    def source(klass, name)
      within(klass.instance_method(name).source_location[0], @here)
    rescue NameError
      nil
    end

    def status(result)
      return "skipped" if result.skipped?
      return "error" if result.error?

      result.passed? ? "passed" : "failed"
    end

    def told(failure)
      cause = failure.respond_to?(:error) && failure.error ? failure.error : failure
      frames = (cause.backtrace || []).map(&:to_s)
      own = frames.find { |frame| frame.start_with?(@root + "/") && !frame.include?("/vendor/") && !frame.include?("/gems/") }
      path, line = own ? own.split(":", 3) : [nil, 0]
      {
        kind: cause.class.name, message: cause.message.to_s.scrub.lines.first.to_s.strip[0, 500],
        path: path && within(path, @root), line: line.to_i,
        stack: [cause.message.to_s.scrub, *frames].join("\n")[0, LONGEST]
      }
    end

    def within(path, base)
      full = File.expand_path(path)
      full = File.realpath(full) if File.exist?(full)
      full.start_with?(base + "/") ? full[(base.length + 1)..] : full
    end

    def write(line)
      @file.write(JSON.generate(line) + "\n")
      @file.flush
    end
  end
end

module Minitest
  def self.plugin_codeplane_init(_options)
    reporter << CodePlane::Lines.new
  end
end

Minitest.extensions << "codeplane"
