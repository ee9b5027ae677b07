# Homebrew formula. release/build.sh fills in version and checksum. Not run here: there is no Homebrew.
class Nsq < Formula
  desc "Answers questions about NVIDIA Nsight Systems reports"
  homepage "@URL@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_linux do
    on_intel do
      url "@URL@/nsq-@VERSION@-x86_64-linux.tar.xz"
      sha256 "@SHA256@"
    end
  end

  def install
    bin.install Dir["bin/*"]
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/nsq"
    zsh_completion.install "share/zsh/site-functions/_nsq"
    fish_completion.install "share/fish/vendor_completions.d/nsq.fish"
    doc.install Dir["share/doc/nsq/*"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/nsq --version")
  end
end
